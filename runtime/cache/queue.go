package cache

import (
	"context"
	"sync"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
)

// queue is what DeltaFIFO, RealFIFO and FIFO have in common: a lock under which
// one thing at a time happens to the queue, the processing of what was taken
// included, and the account of the initial list.
//
// What is processed under the lock is neither in the queue nor known to the store
// yet; a Replace in that moment would miss it.
type queue struct {
	name    string
	keyFunc KeyFunc

	mu      sync.Mutex
	changed sync.Cond // something is pending, or the queue is closed
	pending *deltafifo.DeltaFIFO[string, any]
	closed  bool

	// populated says that the first list, or a change before it, arrived.
	populated bool
	// initial counts what is left of the first list.
	initial int
	synced  chan struct{}
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

// Close makes Pop return ErrFIFOClosed once nothing is pending.
func (q *queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}

// IsClosed says whether Close was called.
func (q *queue) IsClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// HasSynced says whether everything of the first list was taken and processed,
// or the first thing to happen was a change.
func (q *queue) HasSynced() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.hasSynced()
}

// HasSyncedChecker returns HasSynced as something to wait for.
func (q *queue) HasSyncedChecker() DoneChecker { return q }

// Name is the queue's in logs, and as a DoneChecker.
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

// populate notes the first arrival: of a list of so many, or, with none, of a
// change.
func (q *queue) populate(initial int) {
	if !q.populated {
		q.populated, q.initial = true, initial
	}
	q.checkSynced()
}

// processed notes that so much was taken and dealt with.
func (q *queue) processed(n int) {
	q.initial = max(0, q.initial-n)
	q.checkSynced()
}

func (q *queue) checkSynced() {
	if q.populated && q.initial == 0 && !q.hasSynced() {
		close(q.synced)
	}
}

// wait returns, with the lock held as before, when something is pending.
func (q *queue) wait(isPending func() bool) error {
	for !isPending() {
		if q.closed {
			return ErrFIFOClosed
		}
		q.changed.Wait()
	}
	return nil
}

// pop takes what there is of the key that waits longest.
func (q *queue) pop() ([]deltafifo.Delta[string, any], error) {
	if err := q.wait(func() bool { return q.pending.Len() > 0 }); err != nil {
		return nil, err
	}
	// Something is pending, and nobody else takes: this doesn't block.
	_, deltas, err := q.pending.Pop(context.Background())
	return deltas, err
}

// append adds a delta.
func (q *queue) append(t deltafifo.DeltaType, key string, obj any) {
	q.pending.Append(deltafifo.Delta[string, any]{Type: t, Key: key, Object: obj})
	q.changed.Broadcast()
}

// deltaTypes are our types as client-go names them.
var deltaTypes = map[deltafifo.DeltaType]DeltaType{
	deltafifo.Added:       Added,
	deltafifo.Updated:     Updated,
	deltafifo.Deleted:     Deleted,
	deltafifo.Replaced:    Replaced,
	deltafifo.ReplacedAll: ReplacedAll,
	deltafifo.Sync:        Sync,
	deltafifo.SyncAll:     SyncAll,
	deltafifo.Bookmark:    Bookmark,
}

// outward is a delta as client-go has it.
func outward(d deltafifo.Delta[string, any]) Delta {
	return Delta{Type: deltaTypes[d.Type], Object: d.Object}
}

// isTombstone says that obj stands for an object that is gone.
func isTombstone(obj any) bool {
	_, ok := obj.(DeletedFinalStateUnknown)
	return ok
}

// keyOf is the key of an object, a tombstone, or deltas.
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
