package informer

import (
	"context"
	"runtime/debug"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// afterCrash is how long a handler that panicked is left alone, if the process
// survives it.
const afterCrash = time.Second

// read delivers until the handler has caught up or was removed.
func (r *Registration[K, T]) read() {
	defer r.informer.readers.Done()
	for {
		r.guard(r.deliver)
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

// guard makes calls of the handler, and deals with its panics: they are
// contained if the handler asked for it, else handled as utilruntime decides. If
// that lets the process live, the handler is left alone for a while.
func (r *Registration[K, T]) guard(calls func()) {
	if r.contain {
		r.contained(calls)
		return
	}
	if crashed := r.guarded(calls); crashed && !r.removed.Load() {
		time.Sleep(afterCrash)
	}
}

func (r *Registration[K, T]) guarded(calls func()) (crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(r.logger, func(_ context.Context, reason any) {
		r.panics.Add(1)
		r.logger.Error(nil, "A handler panicked", "handler", r.name, "panic", reason)
	})
	calls()
	return false
}

func (r *Registration[K, T]) contained(calls func()) {
	defer func() {
		if reason := recover(); reason != nil {
			r.panics.Add(1)
			utilruntime.HandleErrorWithLogger(r.logger, nil, "A handler panicked and goes on", "handler", r.name, "panic", reason, "stack", string(debug.Stack()))
		}
	}()
	calls()
}

// listener is a handler that is told when the initial list was read to its end.
// It closes hasSynced when that is delivered.
type listener interface{ listed() }

// deliver calls the handler until it has caught up or was removed, or until it
// panics. What it panicked at is not delivered again.
func (r *Registration[K, T]) deliver() {
	for {
		n := r.cursor
		if n.next.Load() == nil || !r.deliverNode(n) {
			return
		}
		if n.synced && !r.synced {
			r.synced = true
			if handler, ok := r.handler.(listener); ok {
				handler.listed()
			} else {
				close(r.hasSynced)
			}
		}
		// Meanwhile another node may have come to be the next.
		r.cursor, r.index = n.next.Load(), 0
	}
}

// deliverNode delivers what is left of a node. It returns false if the handler
// was removed meanwhile.
func (r *Registration[K, T]) deliverNode(n *node[K, T]) bool {
	resyncing := n.audience.includes(r)
	if n.bulk != nil {
		return r.deliverBulk(n, resyncing)
	}
	changes := n.changes()
	for r.index < int(n.length) {
		if r.removed.Load() {
			return false
		}
		k := changes.kindOf(r.index)
		before, now := changes.objects(r.index)
		r.advance()
		switch k {
		case added:
			r.handler.OnAdd(now, n.initial)
		case deleted:
			r.handler.OnDelete(Deleted[K, T]{Object: before})
		case unchanged:
			if resyncing {
				r.handler.OnUpdate(before, now)
			}
		case updated:
			r.handler.OnUpdate(before, now)
		case recreated:
			r.recreate(before, now)
		}
	}
	return true
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
		if r.informer.isRecreation(&c) {
			r.recreate(c.Old, c.Object)
			continue
		}
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

// recreate tells of an object that took the place of one that is gone. If the
// handler panics at the deletion, it is told of the addition all the same.
func (r *Registration[K, T]) recreate(gone, obj T) {
	defer r.handler.OnAdd(obj, false)
	key, _ := r.informer.config.Key(gone)
	r.handler.OnDelete(Deleted[K, T]{Object: gone, Missed: true, Key: key})
}

func (r *Registration[K, T]) advance() {
	r.index++
	r.delivered.Add(1)
}
