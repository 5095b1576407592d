// Package informers has client-go's informers of the built-in types on this runtime, behind
// client-go's interfaces. The names are those of k8s.io/client-go/informers, so a program moves by
// the import path:
//
//	factory := informers.NewSharedInformerFactory(client, 0) // client is a kubernetes.Interface
//	pods := factory.Core().V1().Pods()
//
// Interfaces, typed informers and listers of groups, such as the result of Pods, are client-go's
// own; the informers behind them are kubewright's. The constructors of client-go's packages for
// groups, such as NewPodInformer, make client-go's informers.
//
// Functions of packages informer and factory that accept generated informers and factories
// accept these, too. Functions of package lister accept the listers of ForResource, and generated
// ones, but not client-go's typed listers.
//
// Packages dynamicinformer and metadatainformer, below this one, are those of client-go.
//
// The package is not below runtime/, because client-go's interfaces reach the built-in
// clientset.
package informers
