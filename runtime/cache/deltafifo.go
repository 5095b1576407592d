package cache

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// DeltaFIFO is a queue of keys, each with all deltas of its object since the key was last taken. It compares
// lists with the objects that its consumer knows, so that a list reports the deletions that a watch missed.
// It is safe for concurrent use.
//
// The queue is locked while the function passed to Pop processes a key: until that function has put the
// object into its store, the object is neither queued nor known, and a Replace at that moment would not
// report its deletion.
type DeltaFIFO struct {
	name      string
	keyFunc   KeyFunc
	logger    klog.Logger
	known     KeyListerGetter // nil if the consumer keeps nothing
	inLists   DeltaType       // of the objects of a list
	transform TransformFunc   // nil for none

	mu      sync.Mutex
	changed sync.Cond // something is queued, or the queue is closed
	closed  bool
	// items has the queued deltas of each key. keys has the keys in the order in which they were queued, from
	// index taken on. Its array is reused once it is empty, which saves an allocation for each key.
	items map[string]Deltas
	keys  []string
	taken int

	// populated is true once the first list, or a change before it, has arrived.
	populated bool
	// initial is the number of keys of the first list, including those that it deleted, that were not taken
	// yet.
	initial int
	synced  chan struct{} // closed once populated is true and initial is 0
}

var (
	_ Queue             = &DeltaFIFO{}
	_ TransformingStore = &DeltaFIFO{}
	_ DoneChecker       = &DeltaFIFO{}
)

// NewDeltaFIFO returns an empty queue. knownObjects are the objects that the consumer knows, usually its
// store; if it is nil, lists are compared only with the queued objects.
//
// Deprecated: use NewDeltaFIFOWithOptions.
func NewDeltaFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects})
}

// NewDeltaFIFOWithOptions returns an empty queue. Objects of lists are queued as [Sync], or as [Replaced] if
// EmitDeltaTypeReplaced is set.
func NewDeltaFIFOWithOptions(opts DeltaFIFOOptions) *DeltaFIFO {
	f := &DeltaFIFO{
		name:      cmp.Or(opts.Name, "DeltaFIFO"),
		keyFunc:   opts.KeyFunction,
		known:     opts.KnownObjects,
		inLists:   Sync,
		transform: opts.Transformer,
		items:     map[string]Deltas{},
		synced:    make(chan struct{}),
	}
	if opts.EmitDeltaTypeReplaced {
		f.inLists = Replaced
	}
	if f.keyFunc == nil {
		f.keyFunc = MetaNamespaceKeyFunc
	}
	f.logger = klog.LoggerWithName(ptr.Deref(opts.Logger, klog.Background()), f.name)
	f.changed.L = &f.mu
	return f
}

// KeyOf returns the key of an object, of a tombstone, or of the newest of Deltas.
func (f *DeltaFIFO) KeyOf(obj any) (string, error) { return f.keyOf(obj) }

// Transformer returns the function that objects pass through before they are queued, nil if there is none.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.transform }

// Add queues the addition of an object.
func (f *DeltaFIFO) Add(obj any) error { return f.change(Added, obj) }

// Update queues the update of an object.
func (f *DeltaFIFO) Update(obj any) error { return f.change(Updated, obj) }

// Delete queues the deletion of an object, unless neither the queue nor the consumer knows the object.
func (f *DeltaFIFO) Delete(obj any) error { return f.change(Deleted, obj) }

func (f *DeltaFIFO) change(t DeltaType, obj any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err := f.keyOf(obj)
	if err == nil || t != Deleted {
		// As in client-go, even a change that is refused counts as one before the first list; a deletion that
		// is refused doesn't.
		f.populate(0)
	}
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	if _, queued := f.items[key]; t == Deleted && !queued && !f.knows(key) {
		return nil
	}
	if obj, err = f.transformed(obj); err != nil {
		return err
	}
	f.queue(key, Delta{Type: t, Object: obj})
	f.changed.Broadcast()
	return nil
}

// keepKeys is the capacity up to which the array of keys is kept while it is empty.
const keepKeys = 1024

// push appends a key. If most keys of a full array were taken, the others move to its start.
func (f *DeltaFIFO) push(key string) {
	if len(f.keys) == cap(f.keys) && f.taken > len(f.keys)/2 {
		n := copy(f.keys, f.keys[f.taken:])
		clear(f.keys[n:])
		f.keys, f.taken = f.keys[:n], 0
	}
	f.keys = append(f.keys, key)
}

// pop takes the key that has waited longest. There must be one.
func (f *DeltaFIFO) pop() string {
	key := f.keys[f.taken]
	f.keys[f.taken] = "" // Otherwise the array keeps it alive.
	if f.taken++; f.taken == len(f.keys) {
		if f.keys, f.taken = f.keys[:0], 0; cap(f.keys) > keepKeys {
			f.keys = nil // It grew in a burst that is over.
		}
	}
	return key
}

// queue appends a delta to those of its key. Of two deletions in a row it keeps one: that with the final
// state of the object.
func (f *DeltaFIFO) queue(key string, d Delta) {
	deltas := f.items[key]
	switch newest := deltas.Newest(); {
	case newest == nil:
		f.push(key)
	case d.Type == Deleted && newest.Type == Deleted:
		if isTombstone(newest.Object) {
			*newest = d
		}
		return
	}
	f.items[key] = append(deltas, d)
}

// knows reports whether the consumer has an object under a key, or may have one because the look-up failed.
func (f *DeltaFIFO) knows(key string) bool {
	if f.known == nil {
		return false
	}
	_, exists, err := f.known.GetByKey(key)
	return exists || err != nil
}

// transformed returns the object to queue. Tombstones are not transformed: their object was transformed when
// it was first queued.
func (f *DeltaFIFO) transformed(obj any) (any, error) {
	if f.transform == nil || isTombstone(obj) {
		return obj, nil
	}
	return f.transform(obj)
}

// Replace queues each object of a list, and the deletion of each queued or known object that isn't in the
// list. If an object has no key or its transformation fails, Replace returns the error and queues nothing.
func (f *DeltaFIFO) Replace(list []any, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	objects := make([]any, len(list))
	keys := make([]string, len(list))
	listed := make(map[string]struct{}, len(list))
	for i, obj := range list {
		var err error
		if keys[i], err = f.keyOf(obj); err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		if objects[i], err = f.transformed(obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
		listed[keys[i]] = struct{}{}
	}
	queued := slices.Clone(f.keys[f.taken:])
	for i, key := range keys {
		f.queue(key, Delta{Type: f.inLists, Object: objects[i]})
	}
	deleteUnlisted := func(key string, last any) {
		if _, there := listed[key]; !there {
			listed[key] = struct{}{}
			f.queue(key, Delta{Type: Deleted, Object: DeletedFinalStateUnknown{Key: key, Obj: last}})
		}
	}
	for _, key := range queued {
		last := f.items[key].Newest().Object
		if tombstone, ok := last.(DeletedFinalStateUnknown); ok {
			last = tombstone.Obj
		}
		deleteUnlisted(key, last)
	}
	f.eachKnown(deleteUnlisted)
	f.populate(len(listed))
	f.changed.Broadcast()
	return nil
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
				"Unexpected error during lookup, placing DeleteFinalStateUnknown marker without object",
				"key", key)
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
		if key, err = f.keyOf(obj); err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		if _, queued := f.items[key]; !queued {
			f.queue(key, Delta{Type: Sync, Object: obj})
		}
	}
	f.changed.Broadcast()
	return nil
}

// Pop waits for a key and calls process with its [Deltas]. It returns them and the error of process, or
// [ErrFIFOClosed] if the queue is closed and empty. The queue is locked while process runs, so process must
// not call the queue's methods. Deltas whose processing fails are not queued again.
func (f *DeltaFIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.taken == len(f.keys) {
		if f.closed {
			return nil, ErrFIFOClosed
		}
		f.changed.Wait()
	}
	key := f.pop()
	deltas := f.items[key]
	delete(f.items, key)
	inInitialList := !IsDone(f)
	// As in client-go, Done's channel closes before the last key of the first list is processed. HasSynced
	// needs the lock, and so waits until the key is processed.
	f.initial = max(0, f.initial-1)
	f.checkSynced()
	return deltas, process(deltas, inInitialList)
}

// Close makes Pop return [ErrFIFOClosed] once nothing is queued. Later additions are still accepted.
func (f *DeltaFIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.changed.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// HasSynced reports whether all objects of the first list were processed. If a change comes before the first
// list, it is true after that change.
func (f *DeltaFIFO) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return IsDone(f)
}

// HasSyncedChecker returns a checker that is done when HasSynced is true.
func (f *DeltaFIFO) HasSyncedChecker() DoneChecker { return f }

// Name returns the name of the queue in logs, which it also has as a [DoneChecker].
func (f *DeltaFIFO) Name() string { return f.name }

// Done returns a channel that is closed once HasSynced is true.
func (f *DeltaFIFO) Done() <-chan struct{} { return f.synced }

// populate notes the arrival of a list, of which initial keys are queued, or of a change, with initial 0.
// Only the first call counts.
func (f *DeltaFIFO) populate(initial int) {
	if !f.populated {
		f.populated, f.initial = true, initial
	}
	f.checkSynced()
}

func (f *DeltaFIFO) checkSynced() {
	if f.populated && f.initial == 0 && !IsDone(f) {
		close(f.synced)
	}
}

// isTombstone reports whether obj stands for an object whose deletion was missed.
func isTombstone(obj any) bool {
	_, ok := obj.(DeletedFinalStateUnknown)
	return ok
}

// keyOf returns the key of an object, of a tombstone, or of the newest of Deltas.
func (f *DeltaFIFO) keyOf(obj any) (string, error) {
	if deltas, ok := obj.(Deltas); ok {
		if len(deltas) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return f.keyFunc(obj)
}
