package informer

import (
	"iter"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// changeLog is the one list of changes that all handlers of an informer read, each
// at its own pace. Its writer is the goroutine that writes to the store. A reader
// holds a cursor, which is the node that it reads next. What every cursor has
// passed is garbage: a log that all have read holds nothing, and what a slow
// handler has yet to read exists once, not once for each handler.
//
// The last node is empty: a reader that has caught up waits at it, without
// keeping the objects of an earlier node alive.
type changeLog[K comparable] struct {
	tail *node[K]
	// appended is how many changes were appended ever.
	appended atomic.Uint64
}

// nodeSize is how many single changes go into one node. It bounds how long a
// late handler waits for its registration (a node is applied under the lock
// that it needs) and how much a handler in the middle of a node keeps alive.
const nodeSize = 512

// node is what became visible together: a single change, as most that a watch brings
// are, or a batch. Nothing of it changes once next is set.
//
// It takes 48 bytes, no more than client-go's informers need for a notification, in
// the buffer of each handler: it is what waits for a handler that is behind.
type node[K comparable] struct {
	next atomic.Pointer[node[K]]
	// old and new are a single addition, update or deletion. Any other change is
	// in a batch.
	old, new any
	batch    *batch[K]
}

// batch is a node of several changes, or of one that not everybody gets.
type batch[K comparable] struct {
	// changes are those of single objects, bulk what a whole replacement, resync
	// or late registration changed. length counts either.
	changes []change
	bulk    iter.Seq[store.Change[K]]
	length  int
	// audience says who gets the unchanged updates. If resync is set, there are no
	// others.
	audience *audience[K]
	resync   bool
	// initial says that what is added belongs to the initial list, and synced that
	// the initial list ends here.
	initial, synced bool
}

// change is what handlers are told of one change of the store. An addition has no
// old object, a deletion no new one.
type change struct {
	old, new any
	kind     kind
}

// kind is the kind of a change.
type kind uint8

const (
	added kind = iota
	updated
	// unchanged is an update whose resourceVersion did not change: a resync,
	// or an object that a relist brought again.
	unchanged
	deleted
	// recreated is an update that is told as a missed deletion and an addition.
	recreated
)

func newChangeLog[K comparable]() *changeLog[K] { return &changeLog[K]{tail: &node[K]{}} }

// appendBatch publishes a batch. Only the writer of the log may call it.
func (l *changeLog[K]) appendBatch(b batch[K]) {
	l.tail.batch = &b
	l.publish(b.length)
}

// appendChange publishes one change, of which audience gets it if it is an unchanged
// update. Only the writer of the log may call it.
func (l *changeLog[K]) appendChange(c change, audience *audience[K]) {
	if c.kind != singleKind(c.old, c.new) {
		l.appendBatch(batch[K]{changes: []change{c}, length: 1, audience: audience})
		return
	}
	l.tail.old, l.tail.new = c.old, c.new
	l.publish(1)
}

// publish hands the tail to the readers and begins another.
func (l *changeLog[K]) publish(length int) {
	n := l.tail
	l.tail = &node[K]{}
	l.appended.Add(uint64(length))
	n.next.Store(l.tail)
}

// singleKind returns the kind of the change that a node without a batch is.
func singleKind(old, new any) kind {
	switch {
	case old == nil:
		return added
	case new == nil:
		return deleted
	default:
		return updated
	}
}

// kindOf says what kind of notification a change of the store is.
func kindOf[K comparable](c *store.Change[K]) kind {
	switch c.Type {
	case store.Added:
		return added
	case store.Updated:
		// Two objects without a resourceVersion count as unchanged, as they
		// do in client-go.
		if c.Version == c.OldVersion {
			return unchanged
		}
		return updated
	default:
		return deleted
	}
}

// selfUpdates yields an update of every object in the snapshot to itself.
func selfUpdates[K comparable](s store.Snapshot[K]) iter.Seq[store.Change[K]] {
	return func(yield func(store.Change[K]) bool) {
		for key, obj := range s.All() {
			if !yield(store.Change[K]{Type: store.Updated, Key: key, Object: obj, Old: obj}) {
				return
			}
		}
	}
}
