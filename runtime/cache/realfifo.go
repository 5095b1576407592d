package cache

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
)

// batchSize is the most that PopBatch takes at once, as in client-go.
const batchSize = 1000

// RealFIFO is a queue of everything that happened, in order. It is safe for
// concurrent use; Pop and PopBatch are for one consumer.
type RealFIFO struct {
	queue
	logger klog.Logger
	opts   RealFIFOOptions
	// taken is the rest of what was moved out of pending, in order: what waits
	// longest.
	taken []deltafifo.Delta[string, any]

	queued  GaugeMetric
	latency HistogramMetric
}

var (
	_ QueueWithBatch         = &RealFIFO{}
	_ ReflectorBookmarkStore = &RealFIFO{}
	_ TransformingStore      = &RealFIFO{}
	_ DoneChecker            = &RealFIFO{}
)

// NewRealFIFO returns an empty queue.
//
// Deprecated: use NewRealFIFOWithOptions.
func NewRealFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter, transformer TransformFunc) *RealFIFO {
	return NewRealFIFOWithOptions(RealFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects, Transformer: transformer})
}

// NewRealFIFOWithOptions returns an empty queue. It panics if the options
// contradict each other: exactly one of KnownObjects and AtomicEvents is needed,
// and the latter for UnlockWhileProcessing and EmitDeltaTypeBookmark.
func NewRealFIFOWithOptions(opts RealFIFOOptions) *RealFIFO {
	switch {
	case opts.AtomicEvents && opts.KnownObjects != nil:
		panic("cache: RealFIFOOptions has both AtomicEvents and KnownObjects; the former needs no objects to compare with")
	case opts.AtomicEvents:
	case opts.UnlockWhileProcessing:
		panic("cache: RealFIFOOptions has UnlockWhileProcessing without AtomicEvents")
	case opts.KnownObjects == nil:
		panic("cache: RealFIFOOptions has neither KnownObjects nor AtomicEvents")
	case opts.EmitDeltaTypeBookmark:
		panic("cache: RealFIFOOptions has EmitDeltaTypeBookmark without AtomicEvents")
	}
	f := &RealFIFO{opts: opts}
	name := opts.Identifier.Name()
	if name == "" {
		name = opts.Name
	}
	if name == "" {
		name = "RealFIFO"
	}
	f.init(name, opts.KeyFunction)
	f.logger = named(opts.Logger, name)
	if provider := informer.MetricsProviderFor(opts.Identifier, opts.MetricsProvider); provider != nil {
		f.queued = provider.NewQueuedItemMetric(opts.Identifier)
		f.latency = provider.NewProcessingLatencyMetric(opts.Identifier)
	}
	return f
}

// Transformer returns what objects pass through before they are queued.
func (f *RealFIFO) Transformer() TransformFunc { return f.opts.Transformer }

// Add queues that an object appeared.
func (f *RealFIFO) Add(obj any) error { return f.change(deltafifo.Added, obj) }

// Update queues that an object changed.
func (f *RealFIFO) Update(obj any) error { return f.change(deltafifo.Updated, obj) }

// Delete queues that an object is gone.
func (f *RealFIFO) Delete(obj any) error { return f.change(deltafifo.Deleted, obj) }

func (f *RealFIFO) change(t deltafifo.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.populate(0)
	d, err := f.delta(t, obj)
	if err == nil {
		f.push(d)
	}
	return err
}

// delta makes a delta of an object that wasn't queued before.
func (f *RealFIFO) delta(t deltafifo.DeltaType, obj any) (deltafifo.Delta[string, any], error) {
	key, err := f.keyOf(obj)
	if err != nil {
		return deltafifo.Delta[string, any]{}, KeyError{Obj: obj, Err: err}
	}
	obj, err = f.transformed(obj)
	return deltafifo.Delta[string, any]{Type: t, Key: key, Object: obj}, err
}

func (f *RealFIFO) transformed(obj any) (any, error) {
	if f.opts.Transformer == nil || isTombstone(obj) {
		return obj, nil
	}
	return f.opts.Transformer(obj)
}

func (f *RealFIFO) push(deltas ...deltafifo.Delta[string, any]) {
	for _, d := range deltas {
		f.pending.Append(d)
	}
	f.changed.Broadcast()
	f.showLen()
}

func (f *RealFIFO) len() int { return len(f.taken) + f.pending.Len() }

func (f *RealFIFO) showLen() {
	if f.queued != nil {
		f.queued.Set(float64(f.len()))
	}
}

// all returns everything that is queued.
func (f *RealFIFO) all() []deltafifo.Delta[string, any] {
	return append(append([]deltafifo.Delta[string, any]{}, f.taken...), f.pending.Pending()...)
}

// Bookmark queues that everything up to a version was queued, if the options say
// so.
func (f *RealFIFO) Bookmark(resourceVersion string) error {
	if !f.opts.EmitDeltaTypeBookmark {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.push(deltafifo.Delta[string, any]{Type: deltafifo.Bookmark, Object: BookmarkInfo{ResourceVersion: resourceVersion}})
	return nil
}

// take waits until something is queued and moves all of it where it can be taken
// from one by one.
func (f *RealFIFO) take() error {
	if err := f.wait(func() bool { return f.len() > 0 }); err != nil {
		return err
	}
	if f.pending.Len() == 0 {
		return nil
	}
	// Something is pending, and nobody else takes: this doesn't block.
	batch, err := f.pending.PopBatch(context.Background())
	if err != nil {
		return fmt.Errorf("take what is pending: %w", err)
	}
	f.taken = append(f.taken, batch...)
	return nil
}

// Pop waits for something that happened and hands it, as Deltas of one, to
// process. It returns the Deltas and what process returned.
func (f *RealFIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.take(); err != nil {
		return nil, err
	}
	deltas := Deltas{outward(f.taken[0])}
	err := f.process(1, func(initial bool) error { return process(deltas, initial) })
	return deltas, err
}

// PopBatch waits for something that happened and hands as much as it can to
// processBatch: what concerns single objects, each only once. What can't be part
// of a batch, and what is alone, goes to processSingle.
func (f *RealFIFO) PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.take(); err != nil {
		return err
	}
	n := f.batch()
	deltas := make([]Delta, n)
	for i, d := range f.taken[:n] {
		deltas[i] = outward(d)
	}
	if n == 1 {
		return f.process(1, func(initial bool) error { return processSingle(Deltas(deltas), initial) })
	}
	return f.process(n, func(initial bool) error { return processBatch(deltas, initial) })
}

// batch is how much can be taken at once: at least one, never what belongs to the
// first list together with what came after it.
func (f *RealFIFO) batch() int {
	limit := min(batchSize, len(f.taken))
	if f.initial > 0 {
		limit = min(limit, f.initial)
	}
	keys := make(map[string]struct{}, limit)
	for n, d := range f.taken[:limit] {
		_, again := keys[d.Key]
		if again || !batchable(d.Type) {
			return max(1, n)
		}
		keys[d.Key] = struct{}{}
	}
	return limit
}

func batchable(t deltafifo.DeltaType) bool {
	return t != deltafifo.ReplacedAll && t != deltafifo.SyncAll && t != deltafifo.Bookmark
}

// process takes n out of the queue and calls f. If the options say so, others may
// add to the queue meanwhile, unless it is long already.
func (f *RealFIFO) process(n int, call func(initial bool) error) error {
	initial := !f.hasSynced()
	clear(f.taken[:n])
	f.taken = f.taken[n:]
	f.showLen()
	defer f.processed(n)
	if f.opts.UnlockWhileProcessing && f.len() < 2*batchSize {
		f.mu.Unlock()
		defer f.mu.Lock()
	}
	start := time.Now()
	err := call(initial)
	if f.latency != nil {
		f.latency.Observe(time.Since(start).Seconds())
	}
	return err
}
