// Package dynamicinformer has client-go's dynamic informers on this runtime, under the names of
// k8s.io/client-go/dynamic/dynamicinformer: a program moves by the import path. They are informers of
// *unstructured.Unstructured, and NewTypedSharedIndexInformer of runtime/cache returns them as typed
// informers.
//
// Functions of packages informer and factory that accept generated informers and factories accept these,
// too, except factory.For: it finds informers by Go type, and the key of these informers is the resource.
// Functions of package lister accept the listers of these informers.
//
// The informers read lists and watches as streams if the client's configuration has the transport of
// [github.com/kubewright/kubewright/runtime/listwatch.Wrap].
package dynamicinformer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgo "k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers/internal/resources"
	"github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// DynamicSharedInformerFactory makes and runs dynamic informers. It is client-go's interface. The methods of
// the factories of this package are safe for concurrent use.
type DynamicSharedInformerFactory = clientgo.DynamicSharedInformerFactory

// TweakListOptionsFunc changes the options of lists and watches. It is client-go's type.
type TweakListOptionsFunc = clientgo.TweakListOptionsFunc

// NewDynamicSharedInformerFactory returns a factory of informers for all namespaces.
func NewDynamicSharedInformerFactory(
	client dynamic.Interface, defaultResync time.Duration,
) DynamicSharedInformerFactory {
	return NewFilteredDynamicSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory returns a factory of informers for a namespace.
// tweakListOptions, if not nil, changes the options of their lists and watches.
func NewFilteredDynamicSharedInformerFactory(
	client dynamic.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions TweakListOptionsFunc,
) DynamicSharedInformerFactory {
	return resources.New(func(
		resource schema.GroupVersionResource, indexers cache.Indexers,
	) cache.SharedIndexInformer {
		return newInformer(client, resource, namespace, defaultResync, indexers, tweakListOptions)
	})
}

// NewFilteredDynamicInformer returns an informer that belongs to no factory.
func NewFilteredDynamicInformer(
	client dynamic.Interface, gvr schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc,
) informers.GenericInformer {
	return factory.NewGeneric(
		newInformer(client, gvr, namespace, resyncPeriod, indexers, tweakListOptions), gvr.GroupResource())
}

func newInformer(
	client dynamic.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc,
) cache.SharedIndexInformer {
	of := func() informer.ResourceClient[*unstructured.UnstructuredList] {
		return client.Resource(resource).Namespace(namespace)
	}
	return informer.NewShared[*unstructured.Unstructured](of, informer.Options{
		Client: client, Resource: resource, Namespace: namespace, OtherTypes: true,
		ResyncPeriod: resyncPeriod, Indexers: indexers, TweakListOptions: tweakListOptions,
	})
}
