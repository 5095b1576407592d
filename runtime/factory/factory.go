// Package factory is what every generated SharedInformerFactory delegates to:
// it keeps one informer per type, starts those that were not started yet, waits
// for their first sync and shuts them down together.
//
// An informer need not be one of ours: whatever satisfies
// [cache.SharedIndexInformer] can be handed in through InformerFor.
//
// What upstream's interface of generated factories can't say is reached by
// functions, which take such a factory:
//
//	WaitForSync       waits, and says of each informer why it has not synced
//	HealthCheck       is a check of all informers for /healthz
//	Statuses          says how each informer is doing
//	Hold, Release     stop a single informer when the last who needs it is done
//	Adjust            changes every informer as it is made
//	TweakListOptions  changes what the informer of one type lists and watches
//
// Namespaces runs such a factory for each of a set of namespaces that may change,
// and shows what they have as one.
package factory

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// Factory keeps one shared informer for each Go type. C is the clientset that
// its informers are made with; a nil one is fine as long as no informer is
// started.
//
// All methods are safe for concurrent use, but for the setters, which belong
// before the first InformerFor.
type Factory[C any] struct {
	client        C
	defaultResync time.Duration
	customResync  map[reflect.Type]time.Duration
	transform     cache.TransformFunc
	informerName  *cache.InformerName
	set           Set[reflect.Type]
}

// New makes an empty factory. defaultResync is the resync period of the
// informers that SetCustomResync doesn't name; zero means no resync.
func New[C any](client C, defaultResync time.Duration) *Factory[C] {
	return &Factory[C]{
		client:        client,
		defaultResync: defaultResync,
		customResync:  map[reflect.Type]time.Duration{},
	}
}

// SetCustomResync gives the types of the keys a resync period of their own.
// Calls add up; the last one wins for a type.
func (f *Factory[C]) SetCustomResync(periods map[metav1.Object]time.Duration) {
	for obj, period := range periods {
		f.customResync[reflect.TypeOf(obj)] = period
	}
}

// SetTransform makes every informer that the factory gets from now on pass its
// objects through transform before it stores them.
func (f *Factory[C]) SetTransform(transform cache.TransformFunc) { f.transform = transform }

// SetInformerName names the informers in metrics. Shutdown releases the name.
func (f *Factory[C]) SetInformerName(name *cache.InformerName) { f.informerName = name }

// InformerName returns the name that was set, nil if none was.
func (f *Factory[C]) InformerName() *cache.InformerName { return f.informerName }

// InformerFor returns the informer for obj's Go type. The first call for a type
// makes it by newFunc, which must not call back into the factory; later calls
// return the same informer and ignore newFunc. It does not start the informer.
func (f *Factory[C]) InformerFor(obj runtime.Object, newFunc func(C, time.Duration) cache.SharedIndexInformer) cache.SharedIndexInformer {
	t := reflect.TypeOf(obj)
	return f.set.Get(t, func() cache.SharedIndexInformer {
		period, ok := f.customResync[t]
		if !ok {
			period = f.defaultResync
		}
		informer := newFunc(f.client, period)
		if f.transform != nil {
			// Only an informer that somebody else made and started can refuse.
			if err := informer.SetTransform(f.transform); err != nil {
				utilruntime.HandleErrorWithContext(context.Background(), err, "The factory's transform was not applied to an informer", "type", t)
			}
		}
		return informer
	})
}

// Start is StartWithContext for a stop channel.
func (f *Factory[C]) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext starts every informer that this factory has not started
// before, each on a goroutine of its own, and returns at once. They run until
// ctx is done. Call it again after asking for more informers. After Shutdown it
// does nothing.
func (f *Factory[C]) StartWithContext(ctx context.Context) { f.set.StartWithContext(ctx) }

// WaitForCacheSync is WaitForCacheSyncWithContext for a stop channel.
func (f *Factory[C]) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.set.WaitForCacheSync(wait.ContextForChannel(stopCh))
}

// WaitForCacheSyncWithContext blocks, on channels, until every informer that is
// started at the time of the call has synced, or ctx is done. The result says
// for each which it was. It says nothing about handlers: wait for their
// registration's HasSyncedChecker.
func (f *Factory[C]) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	result := cache.SyncResult{Synced: f.set.WaitForCacheSync(ctx)}
	for _, synced := range result.Synced {
		if !synced {
			result.Err = context.Cause(ctx)
		}
	}
	return result
}

// Shutdown waits until every started informer has returned, then releases the
// informer name. It stops nothing itself: end the context or close the channel
// that the informers were started with, before or while it waits.
func (f *Factory[C]) Shutdown() {
	f.set.Shutdown()
	f.informerName.Release()
}

// Handle returns what to embed.
func (f *Factory[C]) Handle() Handle { return f.set.Handle() }

func (f *Factory[C]) owner() owner { return &f.set }
