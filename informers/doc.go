// Package informers has client-go's informers of the built-in types on this runtime, behind
// client-go's interfaces. The names are those of k8s.io/client-go/informers, so a program moves by
// the import path:
//
//	factory := informers.NewSharedInformerFactory(client, 0) // client is a kubernetes.Interface
//	pods := factory.Core().V1().Pods()
//
// Interfaces, typed informers and listers of groups, such as what Pods returns, are client-go's
// own; the informers behind them are ours. The constructors of client-go's packages for groups,
// such as NewPodInformer, make client-go's informers.
//
// The functions of packages informer and factory that take generated informers and factories
// take these, too. Functions of package lister take generated listers, and those of ForResource.
//
// Packages dynamicinformer and metadatainformer, below this one, are those of client-go.
//
// The package is not below runtime/, because client-go's interfaces reach the built-in
// clientset.
package informers
