// Package informers has dynamic and metadata informers on this runtime, behind
// client-go's interfaces for them: what client-go's packages dynamicinformer and
// metadatainformer make, made of typed informers of [unstructured.Unstructured]
// and [metav1.PartialObjectMetadata].
//
// It is not part of the runtime, because client-go's interfaces for it reach the
// built-in clientset.
//
// Everything that packages informer and factory offer for what generated code
// returns works with these informers and factories, too, but for
// [factory.TweakListOptions]: these informers have resources, not types.
package informers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// NewDynamicSharedInformerFactory makes a factory of dynamic informers for all
// namespaces.
func NewDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration) dynamicinformer.DynamicSharedInformerFactory {
	return NewFilteredDynamicSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory makes a factory of dynamic informers for
// a namespace, whose requests tweakListOptions, if not nil, changes.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, namespace string, tweakListOptions dynamicinformer.TweakListOptionsFunc) dynamicinformer.DynamicSharedInformerFactory {
	return newResources(func(resource schema.GroupVersionResource) cache.SharedIndexInformer {
		return newDynamic(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredDynamicInformer makes a dynamic informer that is shared with nobody.
// Its TypedInformer, by informer.Typed, is one of *unstructured.Unstructured.
func NewFilteredDynamicInformer(client dynamic.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions dynamicinformer.TweakListOptionsFunc) clientgo.GenericInformer {
	return factory.NewGeneric(newDynamic(client, resource, namespace, resyncPeriod, indexers, tweakListOptions), resource.GroupResource())
}

func newDynamic(client dynamic.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions dynamicinformer.TweakListOptionsFunc) cache.SharedIndexInformer {
	return informer.NewShared[*unstructured.Unstructured](func() informer.ResourceClient[*unstructured.UnstructuredList] {
		return client.Resource(resource).Namespace(namespace)
	}, options(client, resource, resyncPeriod, indexers, tweakListOptions))
}

// NewMetadataSharedInformerFactory makes a factory of metadata informers for all
// namespaces.
func NewMetadataSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) metadatainformer.SharedInformerFactory {
	return NewFilteredMetadataSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredMetadataSharedInformerFactory makes a factory of metadata informers
// for a namespace, whose requests tweakListOptions, if not nil, changes.
func NewFilteredMetadataSharedInformerFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweakListOptions metadatainformer.TweakListOptionsFunc) metadatainformer.SharedInformerFactory {
	return newResources(func(resource schema.GroupVersionResource) cache.SharedIndexInformer {
		return newMetadata(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredMetadataInformer makes a metadata informer that is shared with
// nobody.
func NewFilteredMetadataInformer(client metadata.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions metadatainformer.TweakListOptionsFunc) clientgo.GenericInformer {
	return factory.NewGeneric(newMetadata(client, resource, namespace, resyncPeriod, indexers, tweakListOptions), resource.GroupResource())
}

func newMetadata(client metadata.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions metadatainformer.TweakListOptionsFunc) cache.SharedIndexInformer {
	return informer.NewShared[*metav1.PartialObjectMetadata](func() informer.ResourceClient[*metav1.PartialObjectMetadataList] {
		return client.Resource(resource).Namespace(namespace)
	}, options(client, resource, resyncPeriod, indexers, tweakListOptions))
}

func options(client any, resource schema.GroupVersionResource, resyncPeriod time.Duration, indexers cache.Indexers, tweak func(*metav1.ListOptions)) informer.Options {
	return informer.Options{Client: client, Resource: resource, ResyncPeriod: resyncPeriod, Indexers: indexers, TweakListOptions: tweak}
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// resources is a factory of an informer for each resource. Its methods are safe
// for concurrent use.
type resources struct {
	factory.Handle
	make func(schema.GroupVersionResource) cache.SharedIndexInformer
	set  *factory.Set[schema.GroupVersionResource]
}

func newResources(make func(schema.GroupVersionResource) cache.SharedIndexInformer) *resources {
	set := &factory.Set[schema.GroupVersionResource]{}
	return &resources{Handle: set.Handle(), make: make, set: set}
}

// ForResource returns the informer of a resource, which whoever asks first makes
// the factory have.
func (f *resources) ForResource(resource schema.GroupVersionResource) clientgo.GenericInformer {
	i := f.set.Get(resource, func() cache.SharedIndexInformer { return f.make(resource) })
	return factory.NewGeneric(i, resource.GroupResource())
}

// Start is StartWithContext with a channel.
func (f *resources) Start(stopCh <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts, on goroutines of their own, the informers that were
// not started yet. They run until ctx is done.
func (f *resources) StartWithContext(ctx context.Context) { f.set.StartWithContext(ctx) }

// WaitForCacheSync waits, on channels, until all started informers have synced or
// stopCh is closed, and says which have.
func (f *resources) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	return f.set.WaitForCacheSync(wait.ContextForChannel(stopCh))
}

// Shutdown waits until all informers have stopped, which it doesn't make them do,
// and starts no more.
func (f *resources) Shutdown() { f.set.Shutdown() }
