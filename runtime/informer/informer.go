package informer

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Config describes an informer. Source and Key are required.
type Config[K comparable, T any] struct {
	// Source is where the objects come from.
	Source listwatch.Source[T]
	// Key returns the key of an object. An object without a key is reported
	// and not stored.
	Key func(T) (K, error)
	// Indexes of the store by name. More can be added at any time.
	Indexes map[string]store.IndexFunc[T]
	// ResyncPeriod is the default of handlers. Zero means that, unless a
	// handler asks for resyncs before the start, there are none.
	ResyncPeriod time.Duration
	Tuning
	// Identifier returns what identifies the informer in metrics. It is called
	// when the informer starts. Without it, or if what it returns is not
	// reserved, there are no metrics.
	Identifier func() cache.InformerNameAndResource
	// MetricsProvider makes the metrics. The default is SetMetricsProvider's.
	MetricsProvider cache.InformerMetricsProvider
	// Name is the informer's in logs. The default is made of TypeName.
	Name string
	// TypeName is how names and logs call the objects' type. The default is
	// T's name.
	TypeName string
	// Description is what logs of the reflector call the objects. The default
	// is TypeName.
	Description string
}

// Informer keeps a store equal to a collection on a server, and tells handlers
// of every change. All methods are safe for concurrent use.
//
// Per object, the states in the store are a subsequence of the server's, in
// order. A list becomes visible in the store at once. Each handler gets every
// change of the store once, in order, after the change is visible in the store
// and its indexes; there is no order between handlers, and none waits for
// another.
type Informer[K comparable, T any] struct {
	config Config[K, T]
	store  *store.Store[K, T]
	log    *log[K, T]

	// hasSynced is closed once the first list is in the store.
	hasSynced chan struct{}

	// joining is held while the store and the log change together, and by a
	// handler that joins a running informer. It is taken after mu.
	joining sync.Mutex
	// handlers and audience are replaced under mu, never modified.
	handlers atomic.Pointer[[]*Registration[K, T]]
	audience atomic.Pointer[audience[K, T]]
	// readers counts the goroutines that call handlers.
	readers sync.WaitGroup
	waiters waiters
	// ended is closed when the informer stops. It is never closed if the
	// informer doesn't start.
	ended chan struct{}
	// failures tells who waits for the sync that a list or watch has failed.
	failures broadcast

	mu               sync.Mutex
	started, stopped bool
	transform        func(T) (T, error)
	onWatchError     func(context.Context, error)
	reflector        *reflector.Reflector[T]
	queue            *deltafifo.DeltaFIFO[K, T]
	// resyncCheckPeriod is how often the running informer looks whether a
	// resync is due; zero is never.
	resyncCheckPeriod time.Duration
}

// New makes an informer. It does nothing until Run.
func New[K comparable, T any](config Config[K, T]) *Informer[K, T] {
	if config.TypeName == "" {
		config.TypeName = reflect.TypeFor[T]().String()
	}
	config.Name = cmp.Or(config.Name, "informer of "+config.TypeName)
	config.Description = cmp.Or(config.Description, config.TypeName)
	i := &Informer[K, T]{
		config:            config,
		store:             store.New(store.Config[K, T]{Indexes: config.Indexes}),
		hasSynced:         make(chan struct{}),
		ended:             make(chan struct{}),
		resyncCheckPeriod: config.ResyncPeriod,
	}
	i.log = newLog[K, T](i.behind)
	i.handlers.Store(&[]*Registration[K, T]{})
	return i
}

// Store returns the informer's store. What others write to it is read by
// everybody, but no handler is told, and the next list replaces it, unless it has
// the version that the list has of the object. It is not looked at: what has
// another key or, where T is any, another type than the informer's objects makes
// readers err or panic.
func (i *Informer[K, T]) Store() *store.Store[K, T] { return i.store }

// errStarted is what the setters return too late; the words are client-go's.
var errStarted = errors.New("informer has already started")

// SetTransform makes every object pass through transform before it is stored.
// transform owns the object and may change it. An object that it fails for is
// reported and not stored. It is an error after the start.
func (i *Informer[K, T]) SetTransform(transform func(T) (T, error)) error {
	return i.beforeStart(func() { i.transform = transform })
}

// SetWatchErrorHandler has handle called, in place of a log line, whenever a
// list or watch ends with an error. handle must return quickly. It is an error
// after the start.
func (i *Informer[K, T]) SetWatchErrorHandler(handle func(context.Context, error)) error {
	return i.beforeStart(func() { i.onWatchError = handle })
}

func (i *Informer[K, T]) beforeStart(set func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	set()
	return nil
}

// AddIndexes adds indexes to the store, at any time before the informer has
// stopped.
func (i *Informer[K, T]) AddIndexes(indexes map[string]store.IndexFunc[T]) error {
	return i.beforeStop(func() error { return i.store.AddIndexes(indexes) })
}

func (i *Informer[K, T]) beforeStop(add func() error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return errors.New("indexer was not added because it has stopped already")
	}
	return add()
}

// HasSynced says whether the store holds a complete list.
func (i *Informer[K, T]) HasSynced() bool { return cache.IsDone(i.HasSyncedChecker()) }

// HasSyncedChecker returns HasSynced as something to wait for.
func (i *Informer[K, T]) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{name: i.syncName(), done: i.hasSynced}
}

func (i *Informer[K, T]) syncName() string { return "SharedIndexInformer " + i.config.TypeName }

// LastSyncResourceVersion returns the version up to which the server was read,
// "" before the first list. The store may be behind it.
func (i *Informer[K, T]) LastSyncResourceVersion() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// nameplate returns the running reflector's.
func (i *Informer[K, T]) nameplate() *cache.Reflector {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reflector.Nameplate()
}

// IsStopped says whether the informer has run and stopped. It is never started
// again, and takes no more handlers.
func (i *Informer[K, T]) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// Run lists and watches until ctx is done, and returns after all that it
// started has ended, calls of handlers included. What handlers are behind with
// then is dropped. An informer runs once: the second call returns at once. If an
// index function panics, so does Run, and waits for nobody, unless utilruntime is
// told to survive panics.
func (i *Informer[K, T]) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !i.start() {
		klog.FromContext(ctx).Info("Warning: the informer has started already, it can't run more than once", "type", i.config.TypeName)
		return
	}
	detector := newMutationDetector(i.config.TypeName, i.config.Tuning)
	i.runUntil(ctx, detector)
	i.readers.Wait()
	detector.last()
}

// runUntil has stopped the informer when it returns, and when it panics.
func (i *Informer[K, T]) runUntil(ctx context.Context, detector *mutationDetector) {
	defer i.stop()
	i.pump(ctx, detector)
}

func (i *Informer[K, T]) start() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return false
	}
	i.started = true
	return true
}

func (i *Informer[K, T]) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
	close(i.ended)
	handlers := *i.handlers.Load()
	i.setHandlers(nil)
	for _, r := range handlers {
		r.remove()
	}
}

// doneChecker is a channel with a name.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }
