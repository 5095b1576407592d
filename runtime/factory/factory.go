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
package factory

import (
	"context"
	"reflect"
	"sync"
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
	tweaks        tweaks

	mu        sync.Mutex
	informers map[reflect.Type]*entry
	// heirs are what the next informer of a type, of which one was released,
	// takes over.
	heirs  map[reflect.Type]func(cache.SharedInformer)
	adjust []func(cache.SharedIndexInformer) error
	// stopping is set by Shutdown: nothing is started any more.
	stopping bool
	// running counts the informers that were started and have not returned.
	running sync.WaitGroup
}

// entry is an informer and whether this factory started it.
type entry struct {
	informer cache.SharedIndexInformer
	started  bool
	// stop ends it, if it was started. holds counts who needs it.
	stop  context.CancelFunc
	holds int
}

// New makes an empty factory. defaultResync is the resync period of the
// informers that SetCustomResync doesn't name; zero means no resync.
func New[C any](client C, defaultResync time.Duration) *Factory[C] {
	return &Factory[C]{
		client:        client,
		defaultResync: defaultResync,
		customResync:  map[reflect.Type]time.Duration{},
		informers:     map[reflect.Type]*entry{},
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
	f.mu.Lock()
	defer f.mu.Unlock()

	t := reflect.TypeOf(obj)
	if e, ok := f.informers[t]; ok {
		return e.informer
	}
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
	if inherit := f.heirs[t]; inherit != nil {
		inherit(informer)
	}
	for _, adjust := range f.adjust {
		if err := adjust(informer); err != nil {
			utilruntime.HandleErrorWithContext(context.Background(), err, "An informer was not adjusted as it should be", "type", t)
		}
	}
	f.informers[t] = &entry{informer: informer}
	return informer
}

// Start is StartWithContext for a stop channel.
func (f *Factory[C]) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext starts every informer that this factory has not started
// before, each on a goroutine of its own, and returns at once. They run until
// ctx is done. Call it again after asking for more informers. After Shutdown it
// does nothing.
func (f *Factory[C]) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.stopping {
		return
	}
	for _, e := range f.informers {
		if !e.started {
			e.started = true
			var own context.Context
			own, e.stop = context.WithCancel(ctx)
			f.running.Go(func() {
				defer e.stop()
				e.informer.RunWithContext(own)
			})
		}
	}
}

// Shutdown waits until every started informer has returned, then releases the
// informer name. It stops nothing itself: end the context or close the channel
// that the informers were started with, before or while it waits.
func (f *Factory[C]) Shutdown() {
	f.mu.Lock()
	f.stopping = true
	f.mu.Unlock()

	f.running.Wait()
	f.informerName.Release()
}

// started returns the informers that this factory has started.
func (f *Factory[C]) started() map[reflect.Type]cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()

	informers := make(map[reflect.Type]cache.SharedIndexInformer, len(f.informers))
	for t, e := range f.informers {
		if e.started {
			informers[t] = e.informer
		}
	}
	return informers
}
