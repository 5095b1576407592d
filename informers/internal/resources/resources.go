// Package resources has the common parts of dynamic and metadata informers: a factory that has an informer
// for each resource.
package resources

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/factory"
)

// Factory has one informer for each resource. Its methods are safe for concurrent use.
type Factory struct {
	factory.Handle
	make func(schema.GroupVersionResource, cache.Indexers) cache.SharedIndexInformer
	set  *factory.Set[schema.GroupVersionResource]
}

// New returns a factory that makes its informers by make.
func New(make func(schema.GroupVersionResource, cache.Indexers) cache.SharedIndexInformer) *Factory {
	set := &factory.Set[schema.GroupVersionResource]{}
	return &Factory{Handle: set.Handle(), make: make, set: set}
}

// ForResource returns the informer of a resource. The first call for a resource makes it.
func (f *Factory) ForResource(resource schema.GroupVersionResource) clientgo.GenericInformer {
	i := f.set.Get(resource, func() cache.SharedIndexInformer {
		return f.make(resource, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	})
	return factory.NewGeneric(i, resource.GroupResource())
}

// Start is StartWithContext for a stop channel.
func (f *Factory) Start(stopCh <-chan struct{}) { f.StartWithContext(wait.ContextForChannel(stopCh)) }

// StartWithContext starts, on goroutines of their own, the informers that were
// not started yet. They run until ctx is done.
func (f *Factory) StartWithContext(ctx context.Context) { f.set.StartWithContext(ctx) }

// WaitForCacheSync waits, without polling, until all started informers have synced or
// stopCh is closed, and reports for each whether it has synced.
func (f *Factory) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	return f.set.WaitForCacheSync(wait.ContextForChannel(stopCh))
}

// Shutdown waits until all informers have stopped, and starts no more. It doesn't stop them:
// end the context that they were started with.
func (f *Factory) Shutdown() { f.set.Shutdown() }
