package deltafifo

import (
	"errors"
	"sync"
)

// ErrClosed is returned by Pop and PopBatch when the queue was closed and
// nothing is pending any more.
var ErrClosed = errors.New("deltafifo: closed")

// DeltaFIFO is a queue of deltas. Adding never blocks, and any number of
// goroutines may add. See the package's documentation for the two ways to
// take, and PopBatch for who may use it.
type DeltaFIFO[K comparable, T any] struct {
	key func(T) K

	mu sync.Mutex
	// log holds what is pending, in the order of arrival. Once there is an
	// index, it may have gaps: deltas of type zero, which Pop took.
	log []Delta[K, T]
	// pending counts the deltas in log without the gaps.
	pending int
	index   *index[K]
	// lent is the batch that the consumer of PopBatch works on; it is the
	// other buffer for log.
	lent []Delta[K, T]
	// small counts the batches in a row that were far smaller than their large buffer.
	small int

	// populated says that the server's first news arrived: a list, whose
	// deltas are marked as initial, or a change, and then none is.
	populated bool
	// initial counts the initial deltas that weren't taken yet, or are lent.
	initial int
	// settled says that synced is closed.
	settled bool
	synced  chan struct{}

	// waiting counts the goroutines that wait on wake.
	waiting   int
	wake      chan struct{}
	closed    chan struct{}
	closeOnce sync.Once
}

// New returns an empty queue. key returns the key of an object; it must be
// deterministic and safe for concurrent use. It may be nil if keys are always
// given, that is, if Added, Updated and Deleted aren't used.
func New[K comparable, T any](key func(T) K) *DeltaFIFO[K, T] {
	return &DeltaFIFO[K, T]{
		key:    key,
		synced: make(chan struct{}),
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
	}
}

// Added appends that an object appeared, with its resourceVersion.
func (f *DeltaFIFO[K, T]) Added(object T, version string) {
	f.change(Added, object, version)
}

// Updated appends that an object changed.
func (f *DeltaFIFO[K, T]) Updated(object T, version string) {
	f.change(Updated, object, version)
}

// Deleted appends that an object, of which this is the final state, is gone.
func (f *DeltaFIFO[K, T]) Deleted(object T, version string) {
	f.change(Deleted, object, version)
}

// change appends a change of one object. Unless the log must grow or is indexed, it
// writes the delta field by field into its place: copying a delta that was just
// written waits for the write.
func (f *DeltaFIFO[K, T]) change(t DeltaType, object T, version string) {
	key := f.key(object)
	f.mu.Lock()
	n := len(f.log)
	if f.index != nil || n == cap(f.log) {
		defer f.mu.Unlock()
		f.append(&Delta[K, T]{Type: t, Key: key, Object: object, Version: version})
		return
	}
	f.log = f.log[:n+1]
	delta := &f.log[n]
	delta.Type, delta.Initial, delta.FinalStateUnknown, delta.List = t, false, false, nil
	delta.Key, delta.Object, delta.Version = key, object, version
	f.populated = true
	f.pending++
	f.added()
	f.mu.Unlock()
}

// Replace appends a list that replaces everything known before, as one delta.
// The list then belongs to the queue.
func (f *DeltaFIFO[K, T]) Replace(list List[K, T], version string) {
	f.Append(Delta[K, T]{Type: ReplacedAll, List: list, Version: version})
}

// Bookmark appends that everything up to version was appended.
func (f *DeltaFIFO[K, T]) Bookmark(version string) {
	f.Append(Delta[K, T]{Type: Bookmark, Version: version})
}

// SyncAll appends the wish to look at every known object again.
func (f *DeltaFIFO[K, T]) SyncAll() { f.Append(Delta[K, T]{Type: SyncAll}) }

// Append appends one delta of any type.
func (f *DeltaFIFO[K, T]) Append(delta Delta[K, T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delta.Initial = false
	f.append(&delta)
}

// append is Append for who holds the lock, and a delta that isn't Initial yet.
func (f *DeltaFIFO[K, T]) append(delta *Delta[K, T]) {
	if !f.populated && delta.Type.populates() {
		f.populated = true
		delta.Initial = delta.Type == ReplacedAll
	}
	f.push(delta)
	f.added()
}

// AppendReplacement appends a replacement that the caller took apart: the
// deletions of what is gone, and a Replaced or Sync for each object that is
// there. Nothing comes between its deltas.
func (f *DeltaFIFO[K, T]) AppendReplacement(deltas ...Delta[K, T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	initial := !f.populated
	f.populated = true
	for _, delta := range deltas {
		delta.Initial = initial
		f.push(&delta)
	}
	f.added()
}

// Resync appends a Sync for each of the known objects whose key has nothing
// pending; what has something will be looked at anyway.
func (f *DeltaFIFO[K, T]) Resync(known List[K, T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	busy := map[K]struct{}{}
	for _, delta := range f.log {
		switch {
		case delta.Type == ReplacedAll:
			// It decides about every key: also those that it lacks.
			return
		case delta.Type != 0 && delta.Type.keyed():
			busy[delta.Key] = struct{}{}
		}
	}
	known.Each(func(key K, object T, version string) {
		if _, ok := busy[key]; !ok {
			f.push(&Delta[K, T]{Type: Sync, Key: key, Object: object, Version: version})
		}
	})
	f.added()
}

// push appends to the log, and to the index if there is one.
func (f *DeltaFIFO[K, T]) push(delta *Delta[K, T]) {
	if f.index != nil {
		f.pushIndexed(*delta)
		return
	}
	f.log = append(f.log, *delta)
	f.pending++
	if delta.Initial {
		f.initial++
	}
}

// added follows every change that may have made something pending.
func (f *DeltaFIFO[K, T]) added() {
	f.checkSynced()
	f.signal()
}

// checkSynced follows every change of populated or initial.
func (f *DeltaFIFO[K, T]) checkSynced() {
	if f.populated && f.initial == 0 && !f.settled {
		f.settled = true
		close(f.synced)
	}
}

// HasSynced says whether the initial list was dealt with: with Pop, once the
// last of its keys was taken; with PopBatch, once the batch that it was in was
// given back. A queue whose first delta is a change of one object is synced
// from then on.
func (f *DeltaFIFO[K, T]) HasSynced() bool {
	select {
	case <-f.synced:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed as soon as HasSynced is true.
func (f *DeltaFIFO[K, T]) Synced() <-chan struct{} { return f.synced }

// Len is the number of pending deltas.
func (f *DeltaFIFO[K, T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pending
}

// Pending returns the pending deltas in the order of arrival.
func (f *DeltaFIFO[K, T]) Pending() []Delta[K, T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending := make([]Delta[K, T], 0, f.pending)
	for _, delta := range f.log {
		if delta.Type != 0 {
			pending = append(pending, delta)
		}
	}
	return pending
}

// Close makes Pop and PopBatch return ErrClosed as soon as nothing is pending.
// What is added later is still handed out. Close is idempotent.
func (f *DeltaFIFO[K, T]) Close() { f.closeOnce.Do(func() { close(f.closed) }) }

// IsClosed says whether Close was called.
func (f *DeltaFIFO[K, T]) IsClosed() bool {
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}
