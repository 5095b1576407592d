package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Config describes an informer. Source and Keys are required.
type Config[K comparable] struct {
	// Source is where the objects come from.
	Source sources.Source
	// Keys computes the keys of objects. An object without a key is reported and not
	// stored.
	Keys indexer.Keys[K]
	// ResyncPeriod is the default for handlers. If it is zero, the informer never
	// resyncs, whatever period a handler requests.
	ResyncPeriod time.Duration
	// Options are those of [informer.Configure].
	Options informer.Options
	// Identifier returns the informer's identity in metrics. It is called when the
	// informer starts. Without it, or if the identity is not reserved, there are no
	// metrics.
	Identifier func() cache.InformerNameAndResource
	// MetricsProvider makes the metrics. The default is the provider that was given
	// to SetMetricsProvider.
	MetricsProvider cache.InformerMetricsProvider
	// Name names the informer in statuses, errors and logs. Its default is made from
	// Subject, which is what the informer caches. The default of Subject is TypeName.
	Name, Subject string
	// Resource and Namespace are what the informer lists, if known.
	Resource  schema.GroupVersionResource
	Namespace string
	// TypeName names the objects' type.
	TypeName string
	// Description names the objects in logs of the reflector. The default is
	// TypeName.
	Description string
}

// engine keeps a store equal to a collection on a server, and notifies handlers
// of every change. All methods are safe for concurrent use.
//
// For each object, the states in the store are a subsequence of the server's, in
// order. A list becomes visible in the store as a whole. Each handler gets every
// change that the writer makes once, in order, after the change is visible in the
// store and its indexes; writes through the indexer reach no handler.
// Handlers don't wait for each other, and there is no order between them.
//
// Locks are taken in this order: joining, mu, the store's own. The package's
// documentation says why.
type engine[K comparable] struct {
	config Config[K]
	store  *store.Store[K]
	log    *changeLog[K]

	// hasSynced is closed once the first list is in the store, or a change if the source has no initial list.
	hasSynced chan struct{}

	// joining is held while the store and the log change together, and while a
	// handler joins. It is taken before mu.
	joining sync.Mutex
	// indexing is held while indexes are added, and before the store's locks. No other lock is taken with it.
	indexing sync.Mutex
	// handlers and resyncing are replaced under mu, never modified.
	handlers  atomic.Pointer[[]*registration[K]]
	resyncing atomic.Pointer[resyncingHandlers[K]]
	// readers counts the goroutines that call handlers.
	readers sync.WaitGroup
	waiters waiters
	// observers are told what the store shows.
	observers observers
	// ended is closed when the informer stops. It stays open if the informer never starts.
	ended chan struct{}
	// deletionsSeen is a sequence number: the store shows all deletions by the
	// informer's client up to it.
	deletionsSeen atomic.Uint64
	// restored is the last restore of the server. It is never nil.
	restored atomic.Pointer[restore]
	// optional is the reader, if the kind is optional and the informer has started.
	optional atomic.Pointer[optionalReader]
	// detector and logger are those of the run. The detector is nil if there is none, both are before the start.
	detector atomic.Pointer[mutationDetector]
	logger   atomic.Pointer[klog.Logger]
	// failures announces failed lists and watches to WaitForSyncOr.
	failures broadcast

	// mu is held for short sections only. Under it, only the source, the reader, the selection and a handler's
	// logger are called, and nothing is waited for.
	mu               sync.Mutex
	started, stopped bool
	// newest makes the first list request the newest state.
	newest bool
	// leaving are registrations that were removed while their handlers were called.
	leaving      []*registration[K]
	transform    func(any) (any, error)
	onWatchError func(context.Context, error)
	reader       Reader
	queue        *deltafifo.DeltaFIFO[K]
	// selection is nil unless the informer caches a part of its objects. It is set before the start.
	selection Selection
	// resyncCheckPeriod is how often the running informer checks whether a resync
	// is due. Zero means never.
	resyncCheckPeriod time.Duration
}

// newEngine makes an informer, which does nothing until Run.
func newEngine[K comparable](config Config[K]) *engine[K] {
	config.Subject = cmp.Or(config.Subject, config.TypeName)
	config.Name = cmp.Or(config.Name, "informer of "+config.Subject)
	config.Description = cmp.Or(config.Description, config.TypeName)
	i := &engine[K]{
		config:            config,
		store:             store.New[K](),
		log:               newChangeLog[K](),
		hasSynced:         make(chan struct{}),
		ended:             make(chan struct{}),
		resyncCheckPeriod: config.ResyncPeriod,
	}
	i.handlers.Store(&[]*registration[K]{})
	i.restored.Store(new(restore))
	return i
}

// errStarted is the [informer.ErrTooLate] of setters. The text is client-go's.
var errStarted error = startedError{}

type startedError struct{}

func (startedError) Error() string { return "informer has already started" }
func (startedError) Unwrap() error { return informer.ErrTooLate }

// SetTransform makes the informer pass every object to transform before it is stored, see
// [informer.Typed.SetTransform]. It returns an error after the start.
func (i *engine[K]) SetTransform(transform func(any) (any, error)) error {
	return i.beforeStart(func() { i.transform = transform })
}

// SetWatchErrorHandler makes the informer call handle, instead of logging, when a list fails or a watch can't
// be opened. It isn't called when an open watch ends with an error. handle must return quickly.
// SetWatchErrorHandler returns an error after the start.
func (i *engine[K]) SetWatchErrorHandler(handle func(context.Context, error)) error {
	return i.beforeStart(func() { i.onWatchError = handle })
}

func (i *engine[K]) beforeStart(set func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	set()
	return nil
}

// beforeStop adds indexes. It returns an error after the stop.
func (i *engine[K]) beforeStop(add func() error) error {
	if i.IsStopped() {
		return errors.New("indexer was not added because it has stopped already")
	}
	i.indexing.Lock()
	defer i.indexing.Unlock()
	return add()
}

// HasSynced reports whether the store holds a complete list.
func (i *engine[K]) HasSynced() bool { return isClosed(i.hasSynced) }

// HasSyncedChecker returns a checker whose channel is closed once HasSynced is true.
func (i *engine[K]) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{name: i.syncName(), done: i.hasSynced}
}

func (i *engine[K]) syncName() string { return "SharedIndexInformer " + i.config.Subject }

// LastSyncResourceVersion returns the resourceVersion up to which the reflector has read, or "" before the
// first list. The store may be behind it.
func (i *engine[K]) LastSyncResourceVersion() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reader == nil {
		return ""
	}
	return i.reader.LastSyncResourceVersion()
}

// reflectorStub returns the stub of the running reflector, see
// [reflector.Reflector.ClientGoStub].
func (i *engine[K]) reflectorStub() *cache.Reflector {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reader.ClientGoStub()
}

// IsStopped reports whether the informer has run and stopped. A stopped informer can't be started again and
// accepts no more handlers.
func (i *engine[K]) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// Run lists and watches until ctx is done. It returns after every goroutine that it started has ended,
// including those that call handlers, and drops the notifications that handlers have not received by then.
// The one exception is a list function that hasn't returned a second after the end of its context: Run
// doesn't wait for it and ignores its list. An informer runs once: a second call logs a warning and returns
// at once. If an index function panics, Run panics without waiting for its goroutines, unless utilruntime is
// configured to survive panics.
func (i *engine[K]) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !i.start() {
		klog.FromContext(ctx).Info("Warning: the informer has started already, it can't run more than once",
			"informer", i.config.Name)
		return
	}
	i.logger.Store(new(klog.FromContext(ctx)))
	detector := newMutationDetector(ctx, i.config.Subject, i.config.Options)
	i.detector.Store(detector)
	i.runLoop(ctx, detector)
	i.readers.Wait()
	detector.compareLast()
}

// runLoop runs the reflector, and applies what it puts into the queue to the store and
// the log, until ctx is done. It stops the informer when it returns or panics. A panic
// of an index function goes to the caller at once.
func (i *engine[K]) runLoop(ctx context.Context, detector *mutationDetector) {
	defer i.stop()
	queue := deltafifo.New[K]()
	w := &writer[K]{
		informer:     i,
		detector:     detector,
		metrics:      newMetrics(i.config),
		logger:       klog.FromContext(ctx),
		deletionKind: deleted,
	}
	i.logUnlessOptional(w.logger)
	r := i.newReader(queue, w.metrics)

	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	if detector != nil {
		running.Go(func() { detector.run(ctx.Done()) })
	}
	for w.applyBatch(ctx, queue) {
	}
	// Not deferred: a panic of the writer must not wait for goroutines that are still running.
	running.Wait()
}

func (i *engine[K]) start() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return false
	}
	i.started = true
	return true
}

func (i *engine[K]) stop() {
	i.endHandlers()
	i.observers.each(observe.Observer.Voided)
}

// endHandlers marks the informer as stopped and removes its handlers.
func (i *engine[K]) endHandlers() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
	close(i.ended)
	handlers := *i.handlers.Load()
	i.setHandlers(nil)
	for _, r := range handlers {
		r.remove()
	}
	i.trackRemoved(handlers...)
}

// addHandler adds a handler. If the informer runs, the handler first receives an addition for each object in
// the store, and then every later change; no change is missed or repeated. addHandler returns an error once
// the informer has stopped.
//
// The handler's resync period is the requested one, raised to a second and to the informer's resync check
// period. The latter is fixed at the start: it is the shortest period that a handler has requested by then,
// or the informer's own if that is shorter or zero. If it is zero, there are no resyncs.
func (i *engine[K]) addHandler(
	handler handler[K], options informer.HandlerOptions, at string,
) (*registration[K], error) {
	i.joining.Lock()
	defer i.joining.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	r, err := i.newRegistration(handler, options)
	if err != nil {
		return nil, err
	}
	r.at = at
	i.register(r)
	return r, nil
}

// newRegistration makes a registration without adding it to the informer. The
// caller holds mu.
func (i *engine[K]) newRegistration(
	handler handler[K], options informer.HandlerOptions,
) (*registration[K], error) {
	name := cmp.Or(options.Name, fmt.Sprintf("%T", handler))
	logger := i.loggerOr(options.Logger)
	if i.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already",
			name)
	}
	requested := i.resyncPeriodFor(ptr.Deref(options.ResyncPeriod, i.config.ResyncPeriod), logger)
	r := &registration[K]{
		informer:  i,
		handler:   handler,
		name:      name,
		given:     options.Logger,
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

// register adds a registration to the informer. The caller holds joining and mu.
func (i *engine[K]) register(r *registration[K]) {
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

// RemoveHandler ends the delivery to a handler and drops its backlog. It may be called more than once, and by
// the handler itself. It doesn't wait for a call of the handler to return; the registration's ShutdownChan is
// closed once it has.
func (i *engine[K]) RemoveHandler(r *registration[K]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	handlers := *i.handlers.Load()
	at := slices.Index(handlers, r)
	if at < 0 {
		return
	}
	i.setHandlers(slices.Delete(slices.Clone(handlers), at, at+1))
	r.remove()
	i.trackRemoved(r)
}

// trackRemoved records handlers that were removed, as long as they are called. The caller holds mu.
func (i *engine[K]) trackRemoved(removed ...*registration[K]) {
	i.leaving = slices.DeleteFunc(append(i.leaving, removed...),
		func(r *registration[K]) bool { return isClosed(r.finished) })
}

// calledHandlers returns the names of the handlers that are being called.
func (i *engine[K]) calledHandlers() (names []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range slices.Concat(*i.handlers.Load(), i.leaving) {
		if r.isCalled() {
			names = append(names, r.name)
		}
	}
	return names
}

func (i *engine[K]) setHandlers(handlers []*registration[K]) {
	i.handlers.Store(&handlers)
	i.updateResyncing()
}

// minResyncPeriod is the least period that a handler gets, as in client-go.
const minResyncPeriod = time.Second

// resyncPeriodFor returns the period to record as requested for a new handler that
// requests wanted. Before the start, a period below the resync check period lowers the
// latter; after the start, the period is raised to it. The caller holds mu.
func (i *engine[K]) resyncPeriodFor(wanted time.Duration, logger klog.Logger) time.Duration {
	if wanted <= 0 {
		return wanted
	}
	if wanted < minResyncPeriod {
		logger.Info("Warning: a handler's resync period is too small and is raised to the minimum",
			"resyncPeriod", wanted, "minimum", minResyncPeriod)
		wanted = minResyncPeriod
	}
	if wanted >= i.resyncCheckPeriod {
		return wanted
	}
	if i.started {
		logger.Info(
			"Warning: a handler's resync period is below the resync check period of its running informer "+
				"and is raised to it", "resyncPeriod", wanted, "resyncCheckPeriod", i.resyncCheckPeriod)
		return i.resyncCheckPeriod
	}
	i.resyncCheckPeriod = wanted
	for _, r := range *i.handlers.Load() {
		r.period = effectivePeriod(r.requested, wanted, r.logger())
	}
	return wanted
}

// effectivePeriod returns the resync period of a handler that requested one, if the
// informer checks for due resyncs every check.
func effectivePeriod(requested, check time.Duration, logger klog.Logger) time.Duration {
	switch {
	case requested == 0:
		return 0
	case check == 0:
		logger.Info("Warning: a handler's resync period has no effect because its informer doesn't resync",
			"resyncPeriod", requested)
		return 0
	case requested < check:
		logger.Info("Warning: a handler's resync period is raised to the informer's resync check period",
			"resyncPeriod", requested, "resyncCheckPeriod", check)
		return check
	default:
		return requested
	}
}

// resyncDue reports whether a resync is due for any handler. It also decides which
// handlers get unchanged updates until the next call.
func (i *engine[K]) resyncDue(now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	due := false
	for _, r := range *i.handlers.Load() {
		r.resyncing = r.period != 0 && !now.Before(r.next)
		if r.resyncing {
			r.next = now.Add(r.period)
			due = true
		}
	}
	i.updateResyncing()
	return due
}

// updateResyncing recomputes which handlers get unchanged updates. The caller holds mu.
func (i *engine[K]) updateResyncing() {
	handlers := *i.handlers.Load()
	members := slices.DeleteFunc(slices.Clone(handlers), func(r *registration[K]) bool { return !r.resyncing })
	if len(members) == len(handlers) {
		i.resyncing.Store(nil)
	} else if old := i.resyncing.Load(); old == nil || !slices.Equal(old.members, members) {
		i.resyncing.Store(&resyncingHandlers[K]{members})
	}
}

// doneChecker is a channel with a name.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }
