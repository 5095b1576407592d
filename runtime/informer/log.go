package informer

import (
	"iter"
	"sync/atomic"
	"unsafe"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// log is the one list of changes that all handlers of an informer read, each
// at its own pace. Its writer is the goroutine that writes to the store; its
// readers hold a cursor, which is the node that they read next. What every
// cursor has passed is garbage, so a log that all have read holds nothing, and
// one that a slow handler is behind with exists once, not once a handler.
//
// The last node is empty: a reader that has caught up waits at it, without
// keeping the objects of an earlier node alive.
type log[K comparable, T any] struct {
	tail *node[K, T]
	// appended is how many notifications were appended ever.
	appended atomic.Uint64
	small    small[K, T]
}

// nodeSize is how many single changes go into one node. It bounds how long a
// late handler waits for its registration (a node is applied under the lock
// that it needs) and how much a handler in the middle of a node keeps alive.
const nodeSize = 512

// node is what became visible together. It is written before next is set, and
// not after, but that next may come to lead to a node in place of several.
// Beside what it refers to it takes 64 bytes.
type node[K comparable, T any] struct {
	next atomic.Pointer[node[K, T]]
	// audience says who gets the unchanged updates of this node. If resync is
	// set, it consists of nothing else.
	audience *audience[K, T]
	// A node holds a single change, or several in run, or else what a whole
	// replacement, resync or late registration changed in bulk.
	single [1]pair
	run    *run[T]
	bulk   iter.Seq[store.Change[K, T]]
	// objectType is that of the single change's objects, kind its own.
	objectType unsafe.Pointer
	kind       kind
	resync     bool
	// initial says that what this node adds belongs to the initial list.
	initial bool
	// synced says that the initial list ends with this node.
	synced bool
	// length counts the changes.
	length uint32
}

// kind says what handlers are told of a change. An addition has no old object, a
// deletion no new one.
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

// newLog makes an empty log. behind says whether a reader has yet to be told of
// something before a position, which counts notifications since the beginning.
func newLog[K comparable, T any](behind func(position uint64) bool) *log[K, T] {
	return &log[K, T]{tail: &node[K, T]{}, small: small[K, T]{behind: behind}}
}

// append publishes what fill has written into the tail. Only the writer of the
// log may call it.
func (l *log[K, T]) append(fill func(*node[K, T])) {
	n := l.tail
	fill(n)
	l.tail = &node[K, T]{}
	appended := l.appended.Add(uint64(n.length))
	n.next.Store(l.tail)
	l.small.follow(n, appended)
}

// hold makes room for so many changes, of which put is then called for each.
func (n *node[K, T]) hold(length int) {
	n.length, n.run = uint32(length), nil
	if length > 1 {
		n.run = newRun[T](length)
	}
}

// put writes the change at i. Those before were written.
func (n *node[K, T]) put(i int, k kind, old, new T) {
	if n.run == nil {
		if packs[T]() {
			if objects, objectType, ok := pack(k, old, new); ok {
				n.kind, n.single[0], n.objectType = k, objects, objectType
				return
			}
		}
		n.run = newRun[T](1)
	}
	n.run.put(i, k, old, new)
}

// changes returns what isn't in bulk. It is so short that a single change's run
// is made where the caller needs it, without an allocation.
func (n *node[K, T]) changes() *run[T] {
	if n.run != nil {
		return n.run
	}
	return &run[T]{kind: n.kind, packed: n.single[:], objectType: n.objectType}
}

// kindOf says what kind of notification a change of the store is.
func kindOf[K comparable, T any](c *store.Change[K, T]) kind {
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
func selfUpdates[K comparable, T any](s store.Snapshot[K, T]) iter.Seq[store.Change[K, T]] {
	return func(yield func(store.Change[K, T]) bool) {
		for key, obj := range s.All() {
			if !yield(store.Change[K, T]{Type: store.Updated, Key: key, Object: obj, Old: obj}) {
				return
			}
		}
	}
}
