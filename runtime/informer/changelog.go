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

// node is what became visible together. Nothing of it changes once next is set.
type node[K comparable] struct {
	next atomic.Pointer[node[K]]
	// audience says who gets the unchanged updates of this node. If resync is
	// set, it consists of nothing else.
	audience *audience[K]
	// A node holds single changes, in single if there is but one, or else what a
	// whole replacement, resync or late registration changed in bulk.
	changes []change
	single  [1]change
	bulk    iter.Seq[store.Change[K]]
	// length counts the changes.
	length uint32
	resync bool
	// initial says that what this node adds belongs to the initial list.
	initial bool
	// synced says that the initial list ends with this node.
	synced bool
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

// append publishes what fill has written into the tail. Only the writer of the
// log may call it.
func (l *changeLog[K]) append(fill func(*node[K])) {
	n := l.tail
	fill(n)
	l.tail = &node[K]{}
	l.appended.Add(uint64(n.length))
	n.next.Store(l.tail)
}

// hold makes room for so many single changes.
func (n *node[K]) hold(length int) {
	n.length = uint32(length)
	if n.changes = n.single[:]; length > 1 {
		n.changes = make([]change, length)
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
