package cache

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
)

// DeltaFIFO is a queue of keys, each with all that happened to its object since the key was last taken. It
// compares lists with what its consumer knows, so that a list reports the deletions that a watch missed. It
// is safe for concurrent use.
type DeltaFIFO struct {
	queue
	logger    klog.Logger
	known     KeyListerGetter     // nil if the consumer keeps nothing
	inLists   deltafifo.DeltaType // of the objects of a list
	transform TransformFunc       // nil for none
}

var (
	_ Queue             = &DeltaFIFO{}
	_ TransformingStore = &DeltaFIFO{}
	_ DoneChecker       = &DeltaFIFO{}
)

// NewDeltaFIFO returns an empty queue. knownObjects is what the consumer knows, usually its store; if it is
// nil, lists are compared only with what is queued.
//
// Deprecated: use NewDeltaFIFOWithOptions.
func NewDeltaFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects})
}

// NewDeltaFIFOWithOptions returns an empty queue. Objects of lists are queued as [Sync], unless
// EmitDeltaTypeReplaced asks for [Replaced].
func NewDeltaFIFOWithOptions(opts DeltaFIFOOptions) *DeltaFIFO {
	f := &DeltaFIFO{known: opts.KnownObjects, transform: opts.Transformer, inLists: deltafifo.Sync}
	if opts.EmitDeltaTypeReplaced {
		f.inLists = deltafifo.Replaced
	}
	name := opts.Name
	if name == "" {
		name = "DeltaFIFO"
	}
	f.init(name, opts.KeyFunction)
	f.logger = named(opts.Logger, name)
	return f
}

// named adds a name to a logger, to klog.Background() if logger is nil.
func named(logger *klog.Logger, name string) klog.Logger {
	if logger == nil {
		return klog.LoggerWithName(klog.Background(), name)
	}
	return klog.LoggerWithName(*logger, name)
}

// KeyOf returns the key of an object, of a tombstone, or of the newest of Deltas.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) { return f.keyOf(obj) }

// Transformer returns the function that objects pass through before they are queued, nil if there is none.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.transform }

// Add queues that an object appeared.
func (f *DeltaFIFO) Add(obj any) error { return f.change(deltafifo.Added, obj) }

// Update queues that an object changed.
func (f *DeltaFIFO) Update(obj any) error { return f.change(deltafifo.Updated, obj) }

// Delete queues that an object is gone, unless neither the queue nor the consumer knows of it.
func (f *DeltaFIFO) Delete(obj any) error { return f.change(deltafifo.Deleted, obj) }

func (f *DeltaFIFO) change(t deltafifo.DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err := f.keyOf(obj)
	if err == nil || t != deltafifo.Deleted {
		// As in client-go, even a change that is refused says that no list came first; a deletion that is
		// refused doesn't.
		f.populate(0)
	}
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	if t == deltafifo.Deleted && !f.pending.Has(key) && !f.knows(key) {
		return nil
	}
	d, err := f.delta(t, key, obj)
	if err == nil {
		f.pending.Append(d)
		f.changed.Broadcast()
	}
	return err
}

// knows reports whether the consumer has an object under a key. If the consumer can't tell, it may have one.
func (f *DeltaFIFO) knows(key string) bool {
	if f.known == nil {
		return false
	}
	_, exists, err := f.known.GetByKey(key)
	return exists || err != nil
}

// delta returns the delta of an object, transformed. Tombstones are not transformed: their object was, when
// it was queued first.
func (f *DeltaFIFO) delta(t deltafifo.DeltaType, key string, obj any) (deltafifo.Delta[string, any], error) {
	if f.transform != nil && !isTombstone(obj) {
		var err error
		if obj, err = f.transform(obj); err != nil {
			return deltafifo.Delta[string, any]{}, err
		}
	}
	return deltafifo.Delta[string, any]{Type: t, Key: key, Object: obj, FinalStateUnknown: isTombstone(obj)}, nil
}

// Replace queues each object of a list, and the deletion of everything that is queued or known and isn't in
// the list. If an object has no key or its transformation fails, Replace returns the error and queues
// nothing.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	deltas := make([]deltafifo.Delta[string, any], 0, len(list))
	keys := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := f.keyOf(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		d, err := f.delta(f.inLists, key, obj)
		if err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
		keys[key] = struct{}{}
		deltas = append(deltas, d)
	}
	deleteUnlisted := func(key string, last any) {
		if _, there := keys[key]; there {
			return
		}
		keys[key] = struct{}{}
		tombstone := DeletedFinalStateUnknown{Key: key, Obj: last}
		deltas = append(deltas, deltafifo.Delta[string, any]{Type: deltafifo.Deleted, Key: key, Object: tombstone, FinalStateUnknown: true})
	}
	f.eachQueued(deleteUnlisted)
	f.eachKnown(deleteUnlisted)
	f.pending.AppendReplacement(deltas...)
	f.changed.Broadcast()
	f.populate(len(keys))
	return nil
}

// eachQueued yields each delta's key with the newest object that is queued under it.
func (f *DeltaFIFO) eachQueued(yield func(key string, last any)) {
	pending := f.pending.Pending()
	newest := make(map[string]any, len(pending))
	for _, d := range pending {
		newest[d.Key] = d.Object
	}
	// In the order of the queue, and not in the map's, so that the same calls queue the same deltas.
	for _, d := range pending {
		last := newest[d.Key]
		if tombstone, ok := last.(DeletedFinalStateUnknown); ok {
			last = tombstone.Obj
		}
		yield(d.Key, last)
	}
}

// eachKnown yields the keys that the consumer knows. The object is nil if the consumer doesn't return one.
func (f *DeltaFIFO) eachKnown(yield func(key string, last any)) {
	if f.known == nil {
		return
	}
	for _, key := range f.known.ListKeys() {
		last, exists, err := f.known.GetByKey(key)
		if err != nil {
			last = nil
			utilruntime.HandleErrorWithLogger(f.logger, err,
				"Unexpected error during lookup, placing DeleteFinalStateUnknown marker without object", "key", key)
		} else if !exists {
			last = nil
		}
		yield(key, last)
	}
}

// Resync queues a [Sync] of each object that the consumer knows and for which nothing is queued. Without
// known objects it does nothing.
func (f *DeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		return nil
	}
	var known deltafifo.Items[string, any]
	for _, key := range f.known.ListKeys() {
		obj, exists, err := f.known.GetByKey(key)
		if err != nil {
			utilruntime.HandleErrorWithLogger(f.logger, err,
				"Unexpected error during lookup, unable to queue object for sync", "key", key)
			continue
		}
		if !exists {
			continue
		}
		key, err := f.keyOf(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		known = append(known, deltafifo.Item[string, any]{Key: key, Object: obj})
	}
	f.pending.Resync(known)
	f.changed.Broadcast()
	return nil
}

// Pop waits for a key and calls process with its [Deltas]. It returns them and the error of process, or
// [ErrFIFOClosed] if the queue is closed and empty. The queue is locked while process runs, which therefore
// must not call the queue's methods. Deltas whose processing fails are not queued again.
func (f *DeltaFIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken, err := f.pop()
	if err != nil {
		return nil, err
	}
	inInitialList := !f.hasSynced()
	deltas := make(Deltas, len(taken))
	for i, d := range taken {
		deltas[i] = outward(d)
	}
	f.tookOne()
	return deltas, process(deltas, inInitialList)
}
