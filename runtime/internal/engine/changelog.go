package engine

import (
	"iter"
	"sync/atomic"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// changeLog is a linked list of the changes of the store. All handlers of an informer
// read the same list, each at its own pace. The goroutine that writes to the store
// appends to it. A reader holds a cursor: the node that it reads next. Nodes that every
// cursor has passed are garbage. So a log that all handlers have read holds nothing,
// and slow handlers share one backlog.
//
// The last node is empty. The cursor of a reader that has caught up is this node, so it
// keeps no objects of earlier nodes alive.
type changeLog[K comparable] struct {
	tail *node[K]
	// appended counts all changes that were ever appended.
	appended atomic.Uint64
}

// nodeSize is the largest number of single changes in a node. It bounds how long the
// registration of a handler waits for single changes, since the changes of a node are
// applied under joining, and how many objects a handler in the middle of a node keeps
// alive. A list is one node, however long it is.
const nodeSize = 512

// node holds the changes that became visible in the store together: a single change, the
// usual case with a watch, or a batch. It doesn't change once next is set.
//
// The nodes are the backlog of a slow handler. A node takes 48 bytes, no more than a
// notification in client-go's buffers, of which each handler has its own.
type node[K comparable] struct {
	next atomic.Pointer[node[K]]
	// old and new are the objects of a single addition, update or deletion. Any other
	// change is in batch.
	old, new any
	batch    *batch[K]
}

// batch is several changes, or a single one that only some handlers get or that is not
// a plain addition, update or deletion.
type batch[K comparable] struct {
	// Either changes or bulk is set: changes for changes of single objects, bulk for
	// those of a whole list, resync or late registration. length is their number.
	changes []change
	bulk    iter.Seq[store.Change[K]]
	length  int
	// resyncing is the set of handlers that get unchanged updates. resync is set if all
	// changes are unchanged updates.
	resyncing *resyncingHandlers[K]
	resync    bool
	// initial is set if additions belong to the initial list, synced if the initial
	// list ends with this batch.
	initial, synced bool
}

// change is a change of one object as handlers receive it. An addition has no old
// object, a deletion no new one.
type change struct {
	old, new any
	kind     kind
}

// kind is the kind of a change.
type kind uint8

const (
	added kind = iota
	updated
	// unchanged is an update with the same resourceVersion: a resync, or an object
	// that a later list contained again.
	unchanged
	deleted
	// missed is a deletion of an object whose last state is unknown.
	missed
	// recreated is an update that is reported as a missed deletion and an addition.
	recreated
	// released is an object that left a [Selection] without being deleted.
	released
)

func newChangeLog[K comparable]() *changeLog[K] { return &changeLog[K]{tail: &node[K]{}} }

// appendBatch publishes a batch. Only the goroutine of the writer may call it.
func (l *changeLog[K]) appendBatch(b batch[K]) {
	l.tail.batch = &b
	l.publish(b.length)
}

// appendChange publishes one change. If it is an unchanged update, only the handlers in resyncing get it.
// Only the goroutine of the writer may call it.
func (l *changeLog[K]) appendChange(c change, resyncing *resyncingHandlers[K]) {
	if c.kind != singleKind(c.old, c.new) {
		l.appendBatch(batch[K]{changes: []change{c}, length: 1, resyncing: resyncing})
		return
	}
	l.tail.old, l.tail.new = c.old, c.new
	l.publish(1)
}

// publish makes the tail visible to readers and begins another node.
func (l *changeLog[K]) publish(length int) {
	n := l.tail
	l.tail = &node[K]{}
	l.appended.Add(uint64(length))
	n.next.Store(l.tail)
}

// changes yields the objects before and after each change of the node.
func (n *node[K]) changes() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		switch b := n.batch; {
		case b == nil:
			yield(n.old, n.new)
		case b.bulk != nil:
			for c := range b.bulk {
				if !yield(c.Old, c.Object) {
					return
				}
			}
		default:
			for _, c := range b.changes {
				if !yield(c.old, c.new) {
					return
				}
			}
		}
	}
}

// singleKind returns the kind of the change in a node without a batch.
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

// kindOf returns the kind of a change of the store.
func kindOf[K comparable](c *store.Change[K]) kind {
	switch c.Type {
	case store.Added:
		return added
	case store.Updated:
		// As in client-go, an update counts as unchanged if neither object has a
		// resourceVersion.
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
