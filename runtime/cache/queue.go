package cache

import (
	"context"
	"sync"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
)

// queue is the state of a DeltaFIFO: what is pending, whether it is closed, and how much of the first list
// is left.
//
// The lock is held while a caller's function processes what Pop took. Until that function has put the
// object into its store, the object is neither pending nor known, and a Replace in that moment would not
// report its deletion.
type queue struct {
	name    string
	keyFunc KeyFunc

	mu      sync.Mutex
	changed sync.Cond // something is pending, or the queue is closed
	pending *deltafifo.DeltaFIFO[string, any]
	closed  bool

	// populated is true once the first list, or a change before it, has arrived.
	populated bool
	// initial is how many keys of the first list, with those that it deleted, have not been taken.
	initial int
	synced  chan struct{} // closed once populated is true and initial is 0
}

func (q *queue) init(name string, keyFunc KeyFunc) {
	if keyFunc == nil {
		keyFunc = MetaNamespaceKeyFunc
	}
	q.name, q.keyFunc = name, keyFunc
	q.changed.L = &q.mu
	q.pending = deltafifo.New[string, any](nil)
	q.synced = make(chan struct{})
}

// Close makes Pop return [ErrFIFOClosed] once nothing is pending. What is added later is still taken.
func (q *queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// IsClosed reports whether Close was called.
func (q *queue) IsClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// HasSynced reports whether all objects of the first list were processed. If a change comes before any
// list, it is true from then on.
func (q *queue) HasSynced() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.hasSynced()
}

// HasSyncedChecker returns HasSynced as something to wait for.
func (q *queue) HasSyncedChecker() DoneChecker { return q }

// Name returns the name of the queue in logs, which it also has as a [DoneChecker].
func (q *queue) Name() string { return q.name }

// Done returns a channel that is closed once HasSynced is true.
func (q *queue) Done() <-chan struct{} { return q.synced }

func (q *queue) hasSynced() bool {
	select {
	case <-q.synced:
		return true
	default:
		return false
	}
}

// populate notes that a list of so many objects arrived, or a change, for which initial is 0. Only the
// first call counts.
func (q *queue) populate(initial int) {
	if !q.populated {
		q.populated, q.initial = true, initial
	}
	q.checkSynced()
}

// tookOne notes that a key was taken, just before it is processed. As in client-go, Done's channel closes
// before the last key of the first list is processed; HasSynced waits for the lock, and so for its
// processing.
func (q *queue) tookOne() {
	q.initial = max(0, q.initial-1)
	q.checkSynced()
}

func (q *queue) checkSynced() {
	if q.populated && q.initial == 0 && !q.hasSynced() {
		close(q.synced)
	}
}

// pop waits until something is pending, and returns what there is of the key that has waited longest. The
// lock is held, but not while pop waits.
func (q *queue) pop() ([]deltafifo.Delta[string, any], error) {
	for q.pending.Len() == 0 {
		if q.closed {
			return nil, ErrFIFOClosed
		}
		q.changed.Wait()
	}
	// This does not block: something is pending, and all who take hold the lock.
	_, deltas, err := q.pending.Pop(context.Background())
	return deltas, err
}

// deltaTypes maps to client-go's those of our types that a DeltaFIFO has.
var deltaTypes = map[deltafifo.DeltaType]DeltaType{
	deltafifo.Added:    Added,
	deltafifo.Updated:  Updated,
	deltafifo.Deleted:  Deleted,
	deltafifo.Replaced: Replaced,
	deltafifo.Sync:     Sync,
}

// outward returns a delta as client-go has it, without the key.
func outward(d deltafifo.Delta[string, any]) Delta {
	return Delta{Type: deltaTypes[d.Type], Object: d.Object}
}

// isTombstone reports whether obj stands for an object whose deletion was missed.
func isTombstone(obj any) bool {
	_, ok := obj.(DeletedFinalStateUnknown)
	return ok
}

// keyOf returns the key of an object, of a tombstone, or of the newest of Deltas.
func (q *queue) keyOf(obj any) (string, error) {
	if deltas, ok := obj.(Deltas); ok {
		if len(deltas) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return q.keyFunc(obj)
}
