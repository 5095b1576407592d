package deltafifo

import (
	"context"
	"sync"
)

// DeltaFIFO is a queue of deltas. Appending never blocks. Any number of goroutines may
// append; one goroutine at a time may call PopBatch.
type DeltaFIFO[K comparable] struct {
	mu sync.Mutex
	// log holds what is pending, in the order of arrival.
	log []Delta[K]
	// lent is the batch that the consumer works on. It is the other buffer of log.
	lent []Delta[K]
	// smallBatches counts the batches in a row that were far smaller than their buffer.
	smallBatches int

	// waiting says that the consumer waits on wake.
	waiting bool
	wake    chan struct{}
}

// New returns an empty queue.
func New[K comparable]() *DeltaFIFO[K] { return &DeltaFIFO[K]{wake: make(chan struct{}, 1)} }

// Append appends a change of one object, with its resourceVersion. t is Added,
// Updated or Deleted.
func (f *DeltaFIFO[K]) Append(t DeltaType, key K, object any, version string) {
	f.mu.Lock()
	n := len(f.log)
	if n == cap(f.log) {
		f.log = append(f.log, Delta[K]{})
	} else {
		f.log = f.log[:n+1]
	}
	// Setting the fields one by one avoids copying a delta that was just written, which
	// stalls on the write: 35 ns of 60. The other fields are zero: giveBack cleared them.
	delta := &f.log[n]
	delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version
	f.signal()
	f.mu.Unlock()
}

// Replace appends a list that replaces all known objects, as one delta. The list then
// belongs to the queue.
func (f *DeltaFIFO[K]) Replace(list List[K], version string) {
	f.append(Delta[K]{Type: ReplacedAll, List: list, Version: version})
}

// Bookmark appends a bookmark: all changes up to version were appended before.
func (f *DeltaFIFO[K]) Bookmark(version string) {
	f.append(Delta[K]{Type: Bookmark, Version: version})
}

// SyncAll appends a request to resync every known object.
func (f *DeltaFIFO[K]) SyncAll() { f.append(Delta[K]{Type: SyncAll}) }

func (f *DeltaFIFO[K]) append(delta Delta[K]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, delta)
	f.signal()
}

// signal wakes the consumer if it waits. The caller holds mu.
func (f *DeltaFIFO[K]) signal() {
	if !f.waiting {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // A signal is pending.
	}
}

// Len is the number of pending deltas.
func (f *DeltaFIFO[K]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log)
}

// keepBuffer is the capacity, in deltas, up to which a buffer is always kept.
const keepBuffer = 64

// keepBatches is how many batches in a row must be small, at most an eighth of the buffer,
// before a buffer larger than keepBuffer is dropped. Under load the sizes of batches vary,
// and growing a buffer is the most expensive part of appending.
const keepBatches = 32

// PopBatch removes and returns all pending deltas, in the order of arrival. It blocks until
// there are some, and returns the context's error as soon as ctx is done.
//
// The batch is valid until the next call of PopBatch, which reuses its memory. So only one
// goroutine at a time may use PopBatch and its result.
func (f *DeltaFIFO[K]) PopBatch(ctx context.Context) ([]Delta[K], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.giveBack()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(f.log) > 0 {
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
	f.log, f.lent = f.lent, f.log
	return f.lent, nil
}

// giveBack takes back the batch that PopBatch returned last.
func (f *DeltaFIFO[K]) giveBack() {
	if len(f.lent) == 0 {
		return
	}
	clear(f.lent)
	// Batches in a small buffer don't count: the other buffer may be large.
	if cap(f.lent) > keepBuffer {
		if f.smallBatches++; len(f.lent) > cap(f.lent)/8 {
			f.smallBatches = 0
		}
		if f.smallBatches > keepBatches {
			// The buffer grew in a burst that is over.
			f.lent = nil
			return
		}
	}
	f.lent = f.lent[:0]
}
