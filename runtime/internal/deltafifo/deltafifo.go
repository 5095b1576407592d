package deltafifo

import (
	"context"
	"sync"
)

// DeltaFIFO is a queue of deltas between the goroutines that receive changes and the one
// that stores them. It isn't client-go's type of that name. Appending never blocks. Any
// number of goroutines may append, but only one at a time may call PopBatch.
type DeltaFIFO[K comparable] struct {
	mu sync.Mutex
	// pending are the deltas that weren't taken yet, in the order of arrival.
	pending []Delta[K]
	// lent is the batch that the consumer works on; it is the other buffer for pending.
	lent []Delta[K]
	// smallBatches counts the batches in a row that were far smaller than their large buffer.
	smallBatches int

	// waiting is true while the consumer waits on wake.
	waiting bool
	wake    chan struct{}
}

// New returns an empty queue.
func New[K comparable]() *DeltaFIFO[K] { return &DeltaFIFO[K]{wake: make(chan struct{}, 1)} }

// Append appends a change of one object, with its resourceVersion. t is Added,
// Updated or Deleted.
func (f *DeltaFIFO[K]) Append(t DeltaType, key K, object any, version string) {
	f.mu.Lock()
	n := len(f.pending)
	if n == cap(f.pending) {
		f.pending = append(f.pending, Delta[K]{})
	} else {
		f.pending = f.pending[:n+1]
	}
	// Set the fields one by one: copying a delta that was just written takes 35 ns of 60,
	// because the load waits for the store.
	// The fields that aren't set are zero, because giveBack clears buffers.
	delta := &f.pending[n]
	delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version
	f.signal()
	f.mu.Unlock()
}

// Replace appends a list that replaces everything known before, as one delta.
// The list then belongs to the queue.
func (f *DeltaFIFO[K]) Replace(list List[K], version string) {
	f.append(Delta[K]{Type: ReplacedAll, List: list, Version: version})
}

// Bookmark appends a marker: everything up to version precedes it.
func (f *DeltaFIFO[K]) Bookmark(version string) {
	f.append(Delta[K]{Type: Bookmark, Version: version})
}

// SyncAll appends a request to resync all objects.
func (f *DeltaFIFO[K]) SyncAll() { f.append(Delta[K]{Type: SyncAll}) }

// Call appends a request to the consumer to call what.
func (f *DeltaFIFO[K]) Call(what any) { f.append(Delta[K]{Type: Call, Object: what}) }

func (f *DeltaFIFO[K]) append(delta Delta[K]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = append(f.pending, delta)
	f.signal()
}

// signal wakes the consumer if it waits. The caller holds mu.
func (f *DeltaFIFO[K]) signal() {
	if !f.waiting {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // It is being woken already.
	}
}

// Len returns the number of pending deltas.
func (f *DeltaFIFO[K]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pending)
}

// keepBuffer is the capacity, in deltas, up to which a buffer is always kept.
const keepBuffer = 64

// keepBatches is how many batches in a row must be small, at most an eighth of the
// buffer, until a larger buffer is freed. Under load, batches of all sizes alternate,
// and growing a buffer costs more than everything else in adding.
const keepBatches = 32

// PopBatch removes and returns all pending deltas, in the order of arrival. It blocks
// until there is one, and returns the context's error as soon as ctx is done.
//
// The batch is valid until the next call of PopBatch, which reuses its memory. So
// only one goroutine at a time may consume.
func (f *DeltaFIFO[K]) PopBatch(ctx context.Context) ([]Delta[K], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.giveBack()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(f.pending) > 0 {
			break
		}
		f.waiting = true
		f.mu.Unlock()
		select {
		case <-f.wake:
		case <-ctx.Done():
		}
		f.mu.Lock()
		f.waiting = false
	}
	// giveBack left an empty buffer in lent.
	f.pending, f.lent = f.lent, f.pending
	return f.lent, nil
}

// giveBack takes the batch back that was handed out last.
func (f *DeltaFIFO[K]) giveBack() {
	if len(f.lent) == 0 {
		return
	}
	clear(f.lent)
	// Small buffers don't count: the other one may be large.
	if cap(f.lent) > keepBuffer {
		if f.smallBatches++; len(f.lent) > cap(f.lent)/8 {
			f.smallBatches = 0
		}
		if f.smallBatches > keepBatches {
			// It grew in a burst that is over.
			f.lent = nil
			return
		}
	}
	f.lent = f.lent[:0]
}
