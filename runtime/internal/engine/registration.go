package engine

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// registration is a handler that was added to an informer. Its methods are
// safe for concurrent use.
//
// It reads the informer's log from a goroutine of its own, which exists only
// while there is something to deliver.
type registration[K comparable] struct {
	informer *engine[K]
	handler  handler[K]
	name     string
	// at is where the handler was added, "" if its options name it, or where Events was called.
	at string
	// given is the logger of the options, nil without one.
	given *klog.Logger
	// coalescer is handler if the backlog is bounded, else nil.
	coalescer *coalescer[K]
	// contain is informer.HandlerOptions.ContainPanics.
	contain bool
	panics  atomic.Pointer[panics]
	// arrived is nil unless a range over Events reads the log. It then holds an
	// element if there may be something to read.
	arrived chan struct{}

	// state decides which goroutine owns the reader's fields below.
	state atomic.Int32
	// removed makes the reader deliver nothing more.
	removed atomic.Bool
	// delivered counts the changes that the reader has passed to the handler, or to the coalescer.
	delivered atomic.Uint64
	// hasSynced is closed once the initial list was delivered, finished once
	// nothing more will be delivered.
	hasSynced, finished chan struct{}

	// The reader's: the node to read next, how many of its changes were
	// delivered, and whether the end of the initial list was reached.
	cursor *node[K]
	index  int
	synced bool

	// Guarded by the informer's mu. requested is the requested resync period,
	// period the effective one, next when the next resync is due. resyncing is
	// set while the handler gets unchanged updates: from its registration to the
	// first check for due resyncs, and after each check that found its resync due.
	requested, period time.Duration
	next              time.Time
	resyncing         bool
}

// The states of a registration. The goroutine that moves it from idle to delivering
// owns the reader's fields until it moves it back. The goroutine that moves it to
// finished closes the channel of that name. A range over Events is never idle, since its own goroutine is the
// reader: it is waiting while it has nothing to deliver.
const (
	idle int32 = iota
	waiting
	delivering
	finished
)

var _ cache.ResourceEventHandlerRegistration = &registration[string]{}

// HasSynced reports whether the informer has synced and its initial list was delivered to the handler. A
// notification that made the handler panic counts as delivered.
func (r *registration[K]) HasSynced() bool { return isClosed(r.hasSynced) }

// HasSyncedChecker returns a checker whose channel is closed once HasSynced is true.
func (r *registration[K]) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{name: r.informer.syncName() + " + event handler " + r.name, done: r.hasSynced}
}

// ShutdownChan returns a channel that is closed once the handler was removed or
// its informer has stopped, and the last call of the handler has returned.
func (r *registration[K]) ShutdownChan() <-chan struct{} { return r.finished }

// logger returns the handler's logger: the given one, or that of the running informer.
func (r *registration[K]) logger() klog.Logger { return r.informer.loggerOr(r.given) }

// loggerOr returns the given logger. If that is nil, it returns the one of the context that the informer runs
// in, and before the start klog's.
func (i *engine[K]) loggerOr(given *klog.Logger) klog.Logger {
	return ptr.Deref(cmp.Or(given, i.logger.Load()), klog.Background())
}

// Name returns the handler's name.
func (r *registration[K]) Name() string { return r.name }

// Backlog returns how many notifications wait for the handler, without the one that it is processing. Resyncs
// that the handler doesn't receive count until the reader has passed them.
func (r *registration[K]) Backlog() int {
	// In this order the difference is never negative: appended only grows.
	delivered := r.delivered.Load()
	backlog := int(r.informer.log.appended.Load() - delivered)
	if r.coalescer != nil {
		backlog += r.coalescer.len()
	}
	return backlog
}

// panics are those of a handler, see informer.HandlerStatus.
type panics struct {
	number      int
	since, last time.Time
}

// panicked notes that the handler has panicked. Only one goroutine calls the handler: the reader's, or the
// coalescer's.
func (r *registration[K]) panicked() {
	p, now := ptr.Deref(r.panics.Load(), panics{}), time.Now()
	if now.Sub(p.last) > 10*time.Minute {
		p.since = now
	}
	p.number, p.last = p.number+1, now
	r.panics.Store(&p)
}

// wake makes sure that the log is read to its end.
func (r *registration[K]) wake() {
	if r.arrived != nil {
		select {
		case r.arrived <- struct{}{}:
		default:
		}
		return
	}
	if r.state.Load() == idle && r.state.CompareAndSwap(idle, delivering) {
		r.informer.readers.Add(1)
		go r.deliverAll()
	}
}

// remove ends the delivery. It doesn't wait for a call that is under way.
func (r *registration[K]) remove() {
	r.removed.Store(true)
	if r.arrived != nil {
		r.wake()
	}
	if r.state.CompareAndSwap(idle, finished) {
		r.finish()
	}
}

func (r *registration[K]) finish() {
	// What is left when the informer has stopped is Undelivered.
	if !isClosed(r.informer.ended) {
		r.cursor = nil
	}
	if r.coalescer != nil {
		r.coalescer.finish()
		return
	}
	close(r.finished)
}

// isCalled reports whether the handler is being called, on a goroutine that the informer waits for.
func (r *registration[K]) isCalled() bool {
	_, busy := r.progress()
	return busy && r.arrived == nil && !isClosed(r.finished)
}

// progress returns how many notifications the handler was given, counted from anywhere, and whether it has
// one or is about to get one.
func (r *registration[K]) progress() (given uint64, busy bool) {
	if r.coalescer != nil {
		return r.coalescer.progress()
	}
	return r.delivered.Load(), r.state.Load() == delivering
}

// Undelivered yields the changes that the handler has not received because the informer has stopped, in
// order: the object before and after, of which one may be nil. It yields nothing before ShutdownChan is
// closed. It doesn't know what a bounded backlog has merged.
func (r *registration[K]) Undelivered() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		if !isClosed(r.finished) {
			return
		}
		passed := r.index
		for n := r.cursor; n != nil && n.next.Load() != nil; n = n.next.Load() {
			for before, after := range n.changes() {
				if passed > 0 {
					passed--
				} else if !yield(before, after) {
					return
				}
			}
			passed = 0
		}
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// join makes the registration begin with the objects of the snapshot and continue
// with the changes that are appended to the log after the call. The caller holds
// joining, so that the writer appends nothing meanwhile.
func (r *registration[K]) join(s store.Snapshot[K], synced bool) {
	l := r.informer.log
	first := &node[K]{batch: &batch[K]{bulk: s.Changes(), length: s.Len(), initial: true, synced: synced}}
	first.next.Store(l.tail)
	r.cursor = first
	r.delivered.Store(l.appended.Load() - uint64(s.Len()))
}

// resyncingHandlers is the set of handlers that get unchanged updates. It never changes; nil
// means all handlers.
type resyncingHandlers[K comparable] struct{ members []*registration[K] }

func (a *resyncingHandlers[K]) includes(r *registration[K]) bool {
	return a == nil || slices.Contains(a.members, r)
}

// afterCrash is the pause after a panic that the process survives, so that a
// handler or index function that always panics doesn't keep a CPU busy.
const afterCrash = time.Second

// deliverAll delivers until the handler has caught up or was removed.
func (r *registration[K]) deliverAll() {
	defer r.informer.readers.Done()
	for {
		r.callGuarded(r.deliver)
		if r.removed.Load() {
			r.state.Store(finished)
			r.finish()
			return
		}
		// Once it is idle, another goroutine may own the reader's fields.
		cursor := r.cursor
		r.state.Store(idle)
		if cursor.next.Load() == nil && !r.removed.Load() {
			return
		}
		if !r.state.CompareAndSwap(idle, delivering) {
			return
		}
	}
}

// callGuarded runs calls, which call the handler, and handles a panic: as an error if the
// handler was added with ContainPanics, else as utilruntime is configured to. In the latter
// case, if the process survives, callGuarded pauses.
func (r *registration[K]) callGuarded(calls func()) {
	if r.contain {
		r.callContained(calls)
		return
	}
	if crashed := r.callOrCrash(calls); crashed && !r.removed.Load() {
		time.Sleep(afterCrash)
	}
}

func (r *registration[K]) callOrCrash(calls func()) (crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(r.logger(), func(_ context.Context, reason any) {
		r.panicked()
		r.logger().Error(nil, "A handler panicked", "handler", r.name, "panic", shown(reason))
	})
	calls()
	return false
}

// shown returns the reason of a panic for logs: the text of an error or a string, else only the type, since
// the value may be an object.
func shown(reason any) string {
	switch reason := reason.(type) {
	case error:
		return reason.Error()
	case string:
		return reason
	}
	return fmt.Sprintf("%T", reason)
}

func (r *registration[K]) callContained(calls func()) {
	defer func() {
		if reason := recover(); reason != nil {
			r.panicked()
			utilruntime.HandleErrorWithLogger(r.logger(), nil, "A handler panicked and goes on",
				"handler", r.name, "panic", shown(reason), "stack", string(debug.Stack()))
		}
	}()
	calls()
}

// initialListHandler is a handler whose method listed is called at the end of the
// initial list. It closes hasSynced itself, once the list was delivered.
type initialListHandler interface{ listed() }

// deliver calls the handler until it has caught up, was removed, or panics. A
// notification at which it panicked is not delivered again.
func (r *registration[K]) deliver() {
	for {
		n := r.cursor
		if n.next.Load() == nil || !r.deliverNode(n) {
			return
		}
		if n.batch != nil && n.batch.synced && !r.synced {
			r.synced = true
			if handler, ok := r.handler.(initialListHandler); ok {
				handler.listed()
			} else {
				close(r.hasSynced)
			}
		}
		r.cursor, r.index = n.next.Load(), 0
	}
}

// deliverNode delivers the rest of a node. It returns false if the handler was
// removed meanwhile.
func (r *registration[K]) deliverNode(n *node[K]) bool {
	b := n.batch
	switch {
	case b == nil:
		if r.removed.Load() {
			return false
		}
		// If the handler panicked at the change, index is 1.
		if r.index == 0 {
			r.advance()
			r.callHandler(change{n.old, n.new, singleKind(n.old, n.new)}, false, false)
		}
		return true
	case b.bulk != nil:
		return r.deliverBulk(b)
	}
	resyncing := b.resyncing.includes(r)
	for r.index < len(b.changes) {
		if r.removed.Load() {
			return false
		}
		c := b.changes[r.index]
		r.advance()
		r.callHandler(c, b.initial, resyncing)
	}
	return true
}

// callHandler calls the handler with a change. An unchanged update is dropped unless the
// handler is resyncing.
func (r *registration[K]) callHandler(c change, initial, resyncing bool) {
	switch c.kind {
	case added:
		r.handler.OnAdd(c.new, initial)
	case deleted:
		r.handler.OnDelete(deletion[K]{Object: c.old})
	case missed:
		r.miss(c.old)
	case unchanged:
		if resyncing {
			r.handler.OnUpdate(c.old, c.new)
		}
	case updated:
		r.handler.OnUpdate(c.old, c.new)
	case recreated:
		r.recreate(c.old, c.new)
	case released:
		r.handler.OnDelete(deletion[K]{Object: c.old, Released: true})
	}
}

// deliverBulk delivers the rest of a list, a resync or the snapshot of a late
// registration. It returns false if the handler was removed meanwhile.
func (r *registration[K]) deliverBulk(b *batch[K]) bool {
	resyncing := b.resyncing.includes(r)
	if b.resync && !resyncing {
		r.delivered.Add(uint64(b.length))
		return true
	}
	// After a panic of the handler, skip the changes that it has received already.
	passed := r.index
	for c := range b.bulk {
		if passed > 0 {
			passed--
			continue
		}
		if r.removed.Load() {
			return false
		}
		r.advance()
		switch k := kindOf(&c); {
		case k == deleted:
			r.handler.OnDelete(deletion[K]{Object: c.Old, Missed: true, Key: c.Key})
		case r.informer.isRecreation(&c):
			r.recreate(c.Old, c.Object)
		default:
			r.callHandler(change{c.Old, c.Object, k}, b.initial, resyncing)
		}
	}
	return true
}

// recreate reports a missed deletion and the addition of the object that replaced
// the deleted one. It reports the addition even if the handler panics at the
// deletion, but not if the handler is removed meanwhile.
func (r *registration[K]) recreate(gone, obj any) {
	defer func() {
		if !r.removed.Load() {
			r.handler.OnAdd(obj, false)
		}
	}()
	r.miss(gone)
}

// miss reports a missed deletion.
func (r *registration[K]) miss(gone any) {
	key, _ := r.informer.config.Keys.Of(gone)
	r.handler.OnDelete(deletion[K]{Object: gone, Missed: true, Key: key})
}

func (r *registration[K]) advance() {
	r.index++
	r.delivered.Add(1)
}
