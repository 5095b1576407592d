package informer

import (
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Registration is a handler that was added to an informer. Its methods are
// safe for concurrent use.
//
// It reads the informer's log from a goroutine of its own, which exists only
// while there is something to deliver.
type Registration[K comparable, T any] struct {
	informer *Informer[K, T]
	handler  Handler[K, T]
	name     string
	logger   klog.Logger
	// coalescer is what handler is if the backlog is to be bounded.
	coalescer *coalescer[K, T]
	// contain says that a panic of the handler ends nothing.
	contain bool
	panics  atomic.Int64
	// arrived is not nil if a loop of the user's reads the log, not a goroutine
	// of ours. It then holds an element when there may be something to read.
	arrived chan struct{}

	// state says who owns the fields of the reader below.
	state atomic.Int32
	// removed tells the reader to deliver nothing more.
	removed   atomic.Bool
	delivered atomic.Uint64
	// hasSynced is closed once the initial list was delivered, finished when
	// nothing will be delivered any more.
	hasSynced, finished chan struct{}

	// The reader's: the node that is read next, how many of its changes were
	// delivered, and whether hasSynced is closed.
	cursor *node[K, T]
	index  int
	synced bool

	// Guarded by the informer's mu. requested is the resync period that was
	// asked for, period the one in force, next when the next resync is due.
	// resyncing says that the handler gets unchanged updates: from its
	// registration to the first look at the clock, and after each look that
	// found a resync due.
	requested, period time.Duration
	next              time.Time
	resyncing         bool
}

// The states of a registration. The goroutine that moves it from idle to
// reading owns the reader until it moves it back; whoever moves it to finished
// closes the channel of that name.
const (
	idle int32 = iota
	reading
	finished
)

var _ cache.ResourceEventHandlerRegistration = &Registration[string, any]{}

// HasSynced says whether the informer has synced and its initial list was
// delivered to the handler. A notification that made the handler panic counts
// as delivered.
func (r *Registration[K, T]) HasSynced() bool { return cache.IsDone(r.HasSyncedChecker()) }

// HasSyncedChecker returns HasSynced as something to wait for.
func (r *Registration[K, T]) HasSyncedChecker() cache.DoneChecker {
	return doneChecker{name: r.informer.syncName() + " + event handler " + r.name, done: r.hasSynced}
}

// ShutdownChan returns a channel that is closed once the handler was removed,
// or its informer has stopped, and its last call has returned.
func (r *Registration[K, T]) ShutdownChan() <-chan struct{} { return r.finished }

// Name returns the handler's name.
func (r *Registration[K, T]) Name() string { return r.name }

// Backlog returns how many notifications wait for the handler, the one that it
// is working on not counted. Resyncs that are not for it count until it has
// passed them.
func (r *Registration[K, T]) Backlog() int {
	// The order matters: what is appended in between must not count as delivered.
	delivered := r.delivered.Load()
	backlog := int(r.informer.log.appended.Load() - delivered)
	if r.coalescer != nil {
		backlog += r.coalescer.len()
	}
	return backlog
}

// Panics returns how often the handler has panicked.
func (r *Registration[K, T]) Panics() int { return int(r.panics.Load()) }

// wake makes sure that what was appended to the log will be read.
func (r *Registration[K, T]) wake() {
	if r.arrived != nil {
		select {
		case r.arrived <- struct{}{}:
		default:
		}
		return
	}
	if r.state.Load() == idle && r.state.CompareAndSwap(idle, reading) {
		r.informer.readers.Add(1)
		go r.read()
	}
}

// remove ends the delivery. It doesn't wait for a call that is under way.
func (r *Registration[K, T]) remove() {
	r.removed.Store(true)
	if r.arrived != nil {
		r.wake()
	}
	if r.state.CompareAndSwap(idle, finished) {
		r.finish()
	}
}

func (r *Registration[K, T]) finish() {
	r.cursor = nil
	if r.coalescer != nil {
		r.coalescer.finish()
		return
	}
	close(r.finished)
}

// join makes a registration that begins with what the snapshot holds and goes
// on with what is appended to the log from now on. The caller keeps the log's
// writer out.
func (r *Registration[K, T]) join(s store.Snapshot[K, T], synced bool) {
	l := r.informer.log
	first := &node[K, T]{bulk: s.Changes(), length: uint32(s.Len()), initial: true, synced: synced}
	first.next.Store(l.tail)
	r.cursor = first
	r.delivered.Store(l.appended.Load() - uint64(s.Len()))
}

// audience is who gets unchanged updates: everyone, or those in members. It
// never changes; a nil audience is everyone.
type audience[K comparable, T any] struct{ members []*Registration[K, T] }

func (a *audience[K, T]) includes(r *Registration[K, T]) bool {
	return a == nil || slices.Contains(a.members, r)
}
