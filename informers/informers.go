// Package informers has dynamic and metadata informers on this runtime, behind
// client-go's interfaces for them: what client-go's packages dynamicinformer and
// metadatainformer make, made of typed informers of [unstructured.Unstructured]
// and [metav1.PartialObjectMetadata].
//
// It is not part of the runtime, because client-go's interfaces for it reach the
// built-in clientset.
//
// Everything that package informer offers for what generated code returns works
// with these informers, too.
package informers

import (
	"context"
	"sync"
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
	return newResources(func(resource schema.GroupVersionResource) clientgo.GenericInformer {
		return NewFilteredDynamicInformer(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredDynamicInformer makes a dynamic informer that is shared with nobody.
// Its TypedInformer, by informer.Typed, is one of *unstructured.Unstructured.
func NewFilteredDynamicInformer(client dynamic.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions dynamicinformer.TweakListOptionsFunc) clientgo.GenericInformer {
	i := informer.NewShared[unstructured.Unstructured](func() informer.ResourceClient[*unstructured.UnstructuredList] {
		return client.Resource(resource).Namespace(namespace)
	}, options(client, resource, resyncPeriod, indexers, tweakListOptions))
	return factory.NewGeneric(i, resource.GroupResource())
}

// NewMetadataSharedInformerFactory makes a factory of metadata informers for all
// namespaces.
func NewMetadataSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) metadatainformer.SharedInformerFactory {
	return NewFilteredMetadataSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredMetadataSharedInformerFactory makes a factory of metadata informers
// for a namespace, whose requests tweakListOptions, if not nil, changes.
func NewFilteredMetadataSharedInformerFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweakListOptions metadatainformer.TweakListOptionsFunc) metadatainformer.SharedInformerFactory {
	return newResources(func(resource schema.GroupVersionResource) clientgo.GenericInformer {
		return NewFilteredMetadataInformer(client, resource, namespace, defaultResync, byNamespace(), tweakListOptions)
	})
}

// NewFilteredMetadataInformer makes a metadata informer that is shared with
// nobody.
func NewFilteredMetadataInformer(client metadata.Interface, resource schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions metadatainformer.TweakListOptionsFunc) clientgo.GenericInformer {
	i := informer.NewShared[metav1.PartialObjectMetadata](func() informer.ResourceClient[*metav1.PartialObjectMetadataList] {
		return client.Resource(resource).Namespace(namespace)
	}, options(client, resource, resyncPeriod, indexers, tweakListOptions))
	return factory.NewGeneric(i, resource.GroupResource())
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
	make func(schema.GroupVersionResource) clientgo.GenericInformer

	mu        sync.Mutex
	informers map[schema.GroupVersionResource]clientgo.GenericInformer
	started   map[schema.GroupVersionResource]bool
	stopping  bool
	running   sync.WaitGroup
}

func newResources(make func(schema.GroupVersionResource) clientgo.GenericInformer) *resources {
	return &resources{
		make:      make,
		informers: map[schema.GroupVersionResource]clientgo.GenericInformer{},
		started:   map[schema.GroupVersionResource]bool{},
	}
}

// ForResource returns the informer of a resource, which whoever asks first makes
// the factory have.
func (f *resources) ForResource(resource schema.GroupVersionResource) clientgo.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, ok := f.informers[resource]
	if !ok {
		i = f.make(resource)
		f.informers[resource] = i
	}
	return i
}

// Start is StartWithContext with a channel.
func (f *resources) Start(stopCh <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts, on goroutines of their own, the informers that were
// not started yet. They run until ctx is done.
func (f *resources) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return
	}
	for resource, i := range f.informers {
		if !f.started[resource] {
			f.started[resource] = true
			f.running.Go(func() { i.Informer().RunWithContext(ctx) })
		}
	}
}

// WaitForCacheSync waits, on channels, until all started informers have synced or
// stopCh is closed, and says which have.
func (f *resources) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	started := map[schema.GroupVersionResource]cache.SharedIndexInformer{}
	for resource := range f.started {
		started[resource] = f.informers[resource].Informer()
	}
	f.mu.Unlock()
	synced := map[schema.GroupVersionResource]bool{}
	for resource, i := range started {
		select {
		case <-i.HasSyncedChecker().Done():
		case <-stopCh:
		}
		synced[resource] = i.HasSynced()
	}
	return synced
}

// Shutdown waits until all informers have stopped, which it doesn't make them do,
// and starts no more.
func (f *resources) Shutdown() {
	f.mu.Lock()
	f.stopping = true
	f.mu.Unlock()
	f.running.Wait()
}
