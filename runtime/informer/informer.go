package informer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// config describes an informer. source and keys are required.
type config[K comparable] struct {
	// source is where the objects come from.
	source listwatch.Source
	// keys says how objects are keyed. An object without a key is reported and not
	// stored.
	keys indexer.Keys[K]
	// resyncPeriod is the default of handlers. Zero means that, unless a
	// handler asks for resyncs before the start, there are none.
	resyncPeriod time.Duration
	Tuning
	// identifier returns what identifies the informer in metrics. It is called
	// when the informer starts. Without it, or if what it returns is not
	// reserved, there are no metrics.
	identifier func() cache.InformerNameAndResource
	// metricsProvider makes the metrics. The default is SetMetricsProvider's.
	metricsProvider cache.InformerMetricsProvider
	// name is the informer's in logs. The default is made of typeName.
	name string
	// typeName is how names and logs call the objects' type.
	typeName string
	// description is what logs of the reflector call the objects. The default
	// is typeName.
	description string
}

// informer keeps a store equal to a collection on a server, and tells handlers
// of every change. All methods are safe for concurrent use.
//
// Per object, the states in the store are a subsequence of the server's, in
// order. A list becomes visible in the store at once. Each handler gets every
// change of the store once, in order, after the change is visible in the store
// and its indexes; there is no order between handlers, and none waits for
// another.
type informer[K comparable] struct {
	config config[K]
	store  *store.Store[K]
	log    *changeLog[K]

	// hasSynced is closed once the first list is in the store.
	hasSynced chan struct{}

	// joining is held while the store and the log change together, and by a
	// handler that joins a running informer. It is taken after mu.
	joining sync.Mutex
	// handlers and audience are replaced under mu, never modified.
	handlers atomic.Pointer[[]*registration[K]]
	audience atomic.Pointer[audience[K]]
	// readers counts the goroutines that call handlers.
	readers sync.WaitGroup
	waiters waiters
	// ended is closed when the informer stops. It is never closed if the
	// informer doesn't start.
	ended chan struct{}
	// deletionsSeen is the sequence number of a deletion of the informer's client:
	// the store shows it and all before it.
	deletionsSeen atomic.Uint64
	// failures tells those who wait for the sync that a list or watch has failed.
	failures broadcast

	mu               sync.Mutex
	started, stopped bool
	transform        func(any) (any, error)
	onWatchError     func(context.Context, error)
	reflector        *reflector.Reflector
	queue            *deltafifo.DeltaFIFO[K]
	// resyncCheckPeriod is how often the running informer looks whether a
	// resync is due; zero is never.
	resyncCheckPeriod time.Duration
}

// newInformer makes an informer. It does nothing until Run.
func newInformer[K comparable](config config[K]) *informer[K] {
	config.name = cmp.Or(config.name, "informer of "+config.typeName)
	config.description = cmp.Or(config.description, config.typeName)
	i := &informer[K]{
		config:            config,
		store:             store.New[K](),
		log:               newChangeLog[K](),
		hasSynced:         make(chan struct{}),
		ended:             make(chan struct{}),
		resyncCheckPeriod: config.resyncPeriod,
	}
	i.handlers.Store(&[]*registration[K]{})
	return i
}

// errStarted is what the setters return too late; the words are client-go's.
var errStarted = errors.New("informer has already started")

// SetTransform makes every object pass through transform before it is stored.
// transform owns the object and may change it. An object that it fails for is
// reported and not stored. It is an error after the start.
func (i *informer[K]) SetTransform(transform func(any) (any, error)) error {
	return i.beforeStart(func() { i.transform = transform })
}

// SetWatchErrorHandler has handle called, in place of a log line, whenever a
// list or watch ends with an error. handle must return quickly. It is an error
// after the start.
func (i *informer[K]) SetWatchErrorHandler(handle func(context.Context, error)) error {
	return i.beforeStart(func() { i.onWatchError = handle })
}

func (i *informer[K]) beforeStart(set func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	set()
	return nil
}

func (i *informer[K]) beforeStop(add func() error) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return errors.New("indexer was not added because it has stopped already")
	}
	return add()
}

// HasSynced says whether the store holds a complete list.
func (i *informer[K]) HasSynced() bool { return cache.IsDone(i.HasSyncedChecker()) }

// HasSyncedChecker returns HasSynced as something to wait for.
func (i *informer[K]) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{name: i.syncName(), done: i.hasSynced}
}

func (i *informer[K]) syncName() string { return "SharedIndexInformer " + i.config.typeName }

// LastSyncResourceVersion returns the version up to which the server was read,
// "" before the first list. The store may be behind it.
func (i *informer[K]) LastSyncResourceVersion() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// reflectorStub returns the running reflector's, see [reflector.Reflector.ClientGoStub].
func (i *informer[K]) reflectorStub() *cache.Reflector {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reflector.ClientGoStub()
}

// IsStopped says whether the informer has run and stopped. It is never started
// again, and takes no more handlers.
func (i *informer[K]) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// Run lists and watches until ctx is done, and returns after all that it
// started has ended, calls of handlers included. What handlers are behind with
// then is dropped. An informer runs once: the second call returns at once. If an
// index function panics, so does Run, and waits for nobody, unless utilruntime is
// told to survive panics.
func (i *informer[K]) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !i.start() {
		klog.FromContext(ctx).Info("Warning: the informer has started already, it can't run more than once", "type", i.config.typeName)
		return
	}
	detector := newMutationDetector(i.config.typeName, i.config.Tuning)
	i.runUntil(ctx, detector)
	i.readers.Wait()
	detector.last()
}

// runUntil has stopped the informer when it returns, and when it panics.
func (i *informer[K]) runUntil(ctx context.Context, detector *mutationDetector) {
	defer i.stop()
	i.pump(ctx, detector)
}

// pump moves what the reflector learns through the queue into the store and the
// log, until ctx is done. An index function's panic goes to the caller at once.
func (i *informer[K]) pump(ctx context.Context, detector *mutationDetector) {
	queue := deltafifo.New[K]()
	w := &writer[K]{
		informer: i,
		detector: detector,
		metrics:  newMetrics(i.config),
		logger:   klog.FromContext(ctx),
	}
	r := i.newReflector(queue, w.metrics)

	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	if detector != nil {
		running.Go(func() { detector.run(ctx.Done()) })
	}
	for w.takeBatch(ctx, queue) {
	}
	// Not deferred: a panic of the writer must not wait for goroutines that go on.
	running.Wait()
}

func (i *informer[K]) start() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return false
	}
	i.started = true
	return true
}

func (i *informer[K]) stop() {
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

// AddHandler registers a handler. If the informer runs, the handler gets an add
// for each object in the store first, and then every later change; no change
// is missed and none comes twice. It is an error once the informer has stopped.
//
// Its resync period is the requested one, but at least a second and at least
// how often the informer looks at the clock, which is fixed when it starts: the
// least period that any handler has asked for by then, or the informer's own.
func (i *informer[K]) AddHandler(handler handler[K], options HandlerOptions) (*registration[K], error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r, err := i.newRegistration(handler, options)
	if err != nil {
		return nil, err
	}
	i.register(r)
	return r, nil
}

// newRegistration makes a registration that isn't the informer's yet. The
// caller holds mu.
func (i *informer[K]) newRegistration(handler handler[K], options HandlerOptions) (*registration[K], error) {
	name := cmp.Or(options.Name, fmt.Sprintf("%T", handler))
	logger := ptr.Deref(options.Logger, klog.Background())
	if i.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", name)
	}
	requested := i.resyncPeriodFor(ptr.Deref(options.ResyncPeriod, i.config.resyncPeriod), logger)
	r := &registration[K]{
		informer:  i,
		handler:   handler,
		name:      name,
		logger:    logger,
		hasSynced: make(chan struct{}),
		finished:  make(chan struct{}),
		contain:   options.ContainPanics,
		requested: requested,
		period:    effectivePeriod(requested, i.resyncCheckPeriod, logger),
		resyncing: true,
	}
	r.next = time.Now().Add(r.period)
	if options.Coalesce {
		r.coalescer = newCoalescer(r, handler)
		r.handler = r.coalescer
	}
	return r, nil
}

// register makes a registration one of the informer's. The caller holds mu.
func (i *informer[K]) register(r *registration[K]) {
	i.joining.Lock()
	defer i.joining.Unlock()
	if i.started {
		r.join(i.store.Snapshot(), i.HasSynced())
	} else {
		r.cursor = i.log.tail
	}
	i.setHandlers(append(slices.Clone(*i.handlers.Load()), r))
	if i.started {
		r.wake()
	}
}

// RemoveHandler ends the delivery to a handler. It may be called more than
// once, and from within the handler; it doesn't wait for a call that is under
// way (the registration's ShutdownChan tells when that is over). What waits in the
// backlog is dropped.
func (i *informer[K]) RemoveHandler(r *registration[K]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	handlers := *i.handlers.Load()
	at := slices.Index(handlers, r)
	if at < 0 {
		return
	}
	i.setHandlers(slices.Delete(slices.Clone(handlers), at, at+1))
	r.remove()
}

func (i *informer[K]) setHandlers(handlers []*registration[K]) {
	i.handlers.Store(&handlers)
	i.updateAudience()
}

// doneChecker is a channel with a name.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }
