// Package informers has client-go's informers on this runtime: those of the built-in types, and
// dynamic and metadata informers. It replaces client-go's packages informers, dynamicinformer
// and metadatainformer, and returns their interfaces.
//
// For the built-in types the names are those of k8s.io/client-go/informers, so a program moves
// by the import path:
//
//	factory := informers.NewSharedInformerFactory(client, 0) // client is a kubernetes.Interface
//	pods := factory.Core().V1().Pods()
//
// Interfaces, typed informers and listers of groups, such as what Pods returns, are client-go's
// own; the informers behind them are ours. The constructors of client-go's packages for groups,
// such as NewPodInformer, make client-go's informers.
//
// Dynamic and metadata informers are typed informers of *unstructured.Unstructured and
// *metav1.PartialObjectMetadata.
//
// The functions of packages informer and factory that take generated informers and factories
// take these, too. The exception is [factory.TweakListOptions] for dynamic and metadata
// factories: it finds informers by Go type, and these are found by resource. Functions of
// package lister take generated listers, and those of ForResource.
//
// The package is not below runtime/, because client-go's interfaces reach the built-in
// clientset.
package informers
