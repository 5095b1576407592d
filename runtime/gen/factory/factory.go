// Package factory is for generated SharedInformerFactories. Programs don't import it: package runtime/factory
// is for them. It keeps one informer for each type, starts informers, waits for their first sync and shuts
// them down together. docs/concepts.md describes what informers promise.
//
// InformerFor accepts any implementation of [cache.SharedIndexInformer], not only this module's.
package factory

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Factory keeps one shared informer for each Go type. C is the type of the clientset that
// it makes informers with. The clientset may be nil if no informer is started.
//
// All methods but the setters are safe for concurrent use. Call the setters before the
// first InformerFor.
type Factory[C any] struct {
	client C
	byType byType
}

// New returns an empty factory. defaultResync is the resync period of informers for whose type
// SetCustomResync has set none. Zero means no resync.
func New[C any](client C, defaultResync time.Duration) *Factory[C] {
	return &Factory[C]{client: client, byType: byType{
		defaultResync: defaultResync,
		customResync:  map[reflect.Type]time.Duration{},
	}}
}

// SetCustomResync sets resync periods for the Go types of the keys. For each type, the last call counts.
func (f *Factory[C]) SetCustomResync(periods map[metav1.Object]time.Duration) {
	for obj, period := range periods {
		f.byType.customResync[reflect.TypeOf(obj)] = period
	}
}

// SetTransform sets the transform of every informer that the factory makes after the call.
func (f *Factory[C]) SetTransform(transform cache.TransformFunc) { f.byType.transform = transform }

// SetInformerName names the informers in metrics. Shutdown releases the name.
func (f *Factory[C]) SetInformerName(name *cache.InformerName) { f.byType.informerName = name }

// InformerName returns the name that was set, or nil.
func (f *Factory[C]) InformerName() *cache.InformerName { return f.byType.informerName }

// InformerFor returns the informer for obj's Go type. The first call for a type
// makes it by newFunc, which must not call back into the factory; later calls
// return the same informer and ignore newFunc. It does not start the informer.
func (f *Factory[C]) InformerFor(
	obj runtime.Object, newFunc func(C, time.Duration) cache.SharedIndexInformer,
) cache.SharedIndexInformer {
	return f.byType.informer(reflect.TypeOf(obj), func(resync time.Duration) cache.SharedIndexInformer {
		return newFunc(f.client, resync)
	})
}

// Start is like StartWithContext, with a stop channel.
func (f *Factory[C]) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext starts every informer that this factory has not started before, each on a goroutine of its
// own, and returns at once. They run until ctx is done. Call it again after requesting more informers. After
// Shutdown it does nothing.
func (f *Factory[C]) StartWithContext(ctx context.Context) { f.byType.StartWithContext(ctx) }

// WaitForCacheSync is like WaitForCacheSyncWithContext, with a stop channel.
func (f *Factory[C]) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.byType.WaitForCacheSync(wait.ContextForChannel(stopCh))
}

// WaitForCacheSyncWithContext blocks, without polling, until every informer that was started before the call
// has synced or stopped, or ctx is done. The result reports which informers have synced. It doesn't wait for
// handlers: use their registration's HasSyncedChecker.
func (f *Factory[C]) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	result := cache.SyncResult{Synced: f.byType.WaitForCacheSync(ctx)}
	for example, synced := range result.Synced {
		if synced {
			continue
		}
		if result.Err = context.Cause(ctx); result.Err == nil {
			result.Err = fmt.Errorf("wait for the informer of %v to sync: %w", example, informer.ErrStopped)
		}
	}
	return result
}

// Shutdown waits until every started informer has returned, then releases the informer
// name. It doesn't stop informers: end the context or close the channel that they were
// started with, before or during the call.
func (f *Factory[C]) Shutdown() {
	f.byType.Shutdown()
	f.byType.informerName.Release()
}

// Handle returns the handle that a generated factory embeds.
func (f *Factory[C]) Handle() Handle { return Handle{&f.byType} }

func (f *Factory[C]) owner() Owner { return &f.byType }
