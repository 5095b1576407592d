package informer

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/store"
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
	return int(r.informer.log.appended.Load() - delivered)
}

// wake makes sure that what was appended to the log will be read.
func (r *Registration[K, T]) wake() {
	if r.state.Load() == idle && r.state.CompareAndSwap(idle, reading) {
		r.informer.readers.Add(1)
		go r.read()
	}
}

// remove ends the delivery. It doesn't wait for a call that is under way.
func (r *Registration[K, T]) remove() {
	r.removed.Store(true)
	if r.state.CompareAndSwap(idle, finished) {
		r.finish()
	}
}

func (r *Registration[K, T]) finish() {
	r.cursor = nil
	close(r.finished)
}

// afterCrash is how long a handler that panicked is left alone, if the process
// survives it.
const afterCrash = time.Second

// read delivers until the handler has caught up or was removed.
func (r *Registration[K, T]) read() {
	defer r.informer.readers.Done()
	for {
		if crashed := r.deliver(); crashed && !r.removed.Load() {
			time.Sleep(afterCrash)
		}
		if r.removed.Load() {
			r.state.Store(finished)
			r.finish()
			return
		}
		// From the moment it is idle, the reader's fields may be somebody
		// else's.
		cursor := r.cursor
		r.state.Store(idle)
		if cursor.next.Load() == nil && !r.removed.Load() {
			return
		}
		if !r.state.CompareAndSwap(idle, reading) {
			return
		}
	}
}

// deliver calls the handler until it has caught up or was removed, or until it
// panicked and the process is configured to survive that. What it panicked at
// is not delivered again.
func (r *Registration[K, T]) deliver() (crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(r.logger, func(_ context.Context, reason any) {
		r.logger.Error(nil, "A handler panicked", "handler", r.name, "panic", reason)
	})
	for {
		n := r.cursor
		next := n.next.Load()
		if next == nil || !r.deliverNode(n) {
			return false
		}
		if n.synced && !r.synced {
			r.synced = true
			close(r.hasSynced)
		}
		r.cursor, r.index = next, 0
	}
}

// deliverNode delivers what is left of a node. It returns false if the handler
// was removed meanwhile.
func (r *Registration[K, T]) deliverNode(n *node[K, T]) bool {
	resyncing := n.audience.includes(r)
	for r.index < len(n.entries) {
		if r.removed.Load() {
			return false
		}
		e := &n.entries[r.index]
		r.advance()
		switch e.kind {
		case added:
			r.handler.OnAdd(e.new, n.initial)
		case deleted:
			r.handler.OnDelete(Deleted[K, T]{Object: e.old})
		case unchanged:
			if resyncing {
				r.handler.OnUpdate(e.old, e.new)
			}
		case updated:
			r.handler.OnUpdate(e.old, e.new)
		}
	}
	return n.bulk == nil || r.deliverBulk(n, resyncing)
}

func (r *Registration[K, T]) deliverBulk(n *node[K, T], resyncing bool) bool {
	if n.resync && !resyncing {
		r.delivered.Add(uint64(n.length))
		return true
	}
	// What was delivered before the handler panicked is passed over.
	passed := r.index
	for c := range n.bulk {
		if passed > 0 {
			passed--
			continue
		}
		if r.removed.Load() {
			return false
		}
		r.advance()
		switch kindOf(&c) {
		case added:
			r.handler.OnAdd(c.Object, n.initial)
		case deleted:
			r.handler.OnDelete(Deleted[K, T]{Object: c.Old, Missed: true, Key: c.Key})
		case unchanged:
			if resyncing {
				r.handler.OnUpdate(c.Old, c.Object)
			}
		case updated:
			r.handler.OnUpdate(c.Old, c.Object)
		}
	}
	return true
}

func (r *Registration[K, T]) advance() {
	r.index++
	r.delivered.Add(1)
}

// join makes a registration that begins with what the snapshot holds and goes
// on with what is appended to the log from now on. The caller keeps the log's
// writer out.
func (r *Registration[K, T]) join(s store.Snapshot[K, T], synced bool) {
	l := r.informer.log
	first := &node[K, T]{bulk: s.Changes(), length: s.Len(), initial: true, synced: synced}
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
