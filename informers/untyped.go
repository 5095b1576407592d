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

// NewDynamicSharedInformerFactory returns a factory of dynamic informers for all
// namespaces.
func NewDynamicSharedInformerFactory(
	client dynamic.Interface, defaultResync time.Duration,
) dynamicinformer.DynamicSharedInformerFactory {
	return NewFilteredDynamicSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory returns a factory of dynamic informers for a
// namespace. tweakListOptions, if not nil, changes the options of their lists and watches.
func NewFilteredDynamicSharedInformerFactory(
	client dynamic.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions dynamicinformer.TweakListOptionsFunc,
) dynamicinformer.DynamicSharedInformerFactory {
	return newResources(func(resource schema.GroupVersionResource) cache.SharedIndexInformer {
		return newDynamic(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredDynamicInformer returns a dynamic informer that belongs to no factory.
// informer.Typed shows its Informer as one of *unstructured.Unstructured.
func NewFilteredDynamicInformer(
	client dynamic.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions dynamicinformer.TweakListOptionsFunc,
) clientgo.GenericInformer {
	return factory.NewGeneric(
		newDynamic(client, resource, namespace, resyncPeriod, indexers, tweakListOptions),
		resource.GroupResource())
}

func newDynamic(
	client dynamic.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions dynamicinformer.TweakListOptionsFunc,
) cache.SharedIndexInformer {
	return informer.NewShared[*unstructured.Unstructured](
		func() informer.ResourceClient[*unstructured.UnstructuredList] {
			return client.Resource(resource).Namespace(namespace)
		}, options(client, resource, namespace, resyncPeriod, indexers, tweakListOptions))
}

// NewMetadataSharedInformerFactory returns a factory of metadata informers for all
// namespaces.
func NewMetadataSharedInformerFactory(
	client metadata.Interface, defaultResync time.Duration,
) metadatainformer.SharedInformerFactory {
	return NewFilteredMetadataSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredMetadataSharedInformerFactory returns a factory of metadata informers for a
// namespace. tweakListOptions, if not nil, changes the options of their lists and watches.
func NewFilteredMetadataSharedInformerFactory(
	client metadata.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions metadatainformer.TweakListOptionsFunc,
) metadatainformer.SharedInformerFactory {
	return newResources(func(resource schema.GroupVersionResource) cache.SharedIndexInformer {
		return newMetadata(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredMetadataInformer returns a metadata informer that belongs to no factory.
func NewFilteredMetadataInformer(
	client metadata.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions metadatainformer.TweakListOptionsFunc,
) clientgo.GenericInformer {
	return factory.NewGeneric(
		newMetadata(client, resource, namespace, resyncPeriod, indexers, tweakListOptions),
		resource.GroupResource())
}

func newMetadata(
	client metadata.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers,
	tweakListOptions metadatainformer.TweakListOptionsFunc,
) cache.SharedIndexInformer {
	return informer.NewShared[*metav1.PartialObjectMetadata](
		func() informer.ResourceClient[*metav1.PartialObjectMetadataList] {
			return client.Resource(resource).Namespace(namespace)
		}, options(client, resource, namespace, resyncPeriod, indexers, tweakListOptions))
}

func options(
	client any, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers, tweak func(*metav1.ListOptions),
) informer.Options {
	return informer.Options{
		Client: client, Resource: resource, Namespace: namespace,
		ResyncPeriod: resyncPeriod, Indexers: indexers, TweakListOptions: tweak,
		Streamed: returnsAsSent(client),
	}
}

// returnsAsSent reports whether a client returns what the server sends: client-go's own clients do,
// while wrappers and fakes may change it.
func returnsAsSent(client any) bool {
	switch client.(type) {
	case *dynamic.DynamicClient, *metadata.Client:
		return true
	}
	return false
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// resources is a factory with one informer for each resource. Its methods are safe for
// concurrent use.
type resources struct {
	factory.Handle
	make func(schema.GroupVersionResource) cache.SharedIndexInformer
	set  *factory.Set[schema.GroupVersionResource]
}

func newResources(make func(schema.GroupVersionResource) cache.SharedIndexInformer) *resources {
	set := &factory.Set[schema.GroupVersionResource]{}
	return &resources{Handle: set.Handle(), make: make, set: set}
}

// ForResource returns the informer of a resource. The first call for a resource makes it.
func (f *resources) ForResource(resource schema.GroupVersionResource) clientgo.GenericInformer {
	i := f.set.Get(resource, func() cache.SharedIndexInformer { return f.make(resource) })
	return factory.NewGeneric(i, resource.GroupResource())
}

// Start is StartWithContext for a stop channel.
func (f *resources) Start(stopCh <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts, on goroutines of their own, the informers that were
// not started yet. They run until ctx is done.
func (f *resources) StartWithContext(ctx context.Context) { f.set.StartWithContext(ctx) }

// WaitForCacheSync waits, on channels, until all started informers have synced or
// stopCh is closed, and says which have.
func (f *resources) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	return f.set.WaitForCacheSync(wait.ContextForChannel(stopCh))
}

// Shutdown waits until all informers have stopped, and starts no more. It doesn't stop them:
// end the context that they were started with.
func (f *resources) Shutdown() { f.set.Shutdown() }
