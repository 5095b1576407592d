package cache

import "github.com/kubewright/kubewright/runtime/internal/deltafifo"

// FIFO is a queue of keys, each with its newest object. An object that is deleted
// before it is taken is never seen. It is safe for concurrent use.
type FIFO struct{ queue }

var (
	_ Queue       = &FIFO{}
	_ DoneChecker = &FIFO{}
)

// NewFIFO returns an empty queue.
func NewFIFO(keyFunc KeyFunc) *FIFO {
	f := &FIFO{}
	f.init("FIFO", keyFunc)
	return f
}

// Add queues an object, in the place of the one of its key if that is queued.
func (f *FIFO) Add(obj any) error { return f.change(deltafifo.Added, obj) }

// Update is Add.
func (f *FIFO) Update(obj any) error { return f.Add(obj) }

// Delete takes the object of obj's key out of the queue.
func (f *FIFO) Delete(obj any) error { return f.change(deltafifo.Deleted, obj) }

func (f *FIFO) change(t deltafifo.DeltaType, obj any) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.populate(0)
	if t == deltafifo.Deleted && !f.pending.Has(key) {
		return nil
	}
	f.append(t, key, obj)
	return nil
}

// Replace makes list all that is queued.
func (f *FIFO) Replace(list []any, _ string) error {
	deltas := make([]deltafifo.Delta[string, any], 0, len(list))
	keys := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := f.keyFunc(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		keys[key] = struct{}{}
		deltas = append(deltas, deltafifo.Delta[string, any]{Type: deltafifo.Replaced, Key: key, Object: obj})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, queued := range f.pending.Pending() {
		if _, listed := keys[queued.Key]; !listed {
			deltas = append(deltas, deltafifo.Delta[string, any]{Type: deltafifo.Deleted, Key: queued.Key})
		}
	}
	f.pending.AppendReplacement(deltas...)
	f.changed.Broadcast()
	f.populate(len(keys))
	return nil
}

// Resync does nothing: whatever was added and not taken is queued.
func (f *FIFO) Resync() error { return nil }

// Pop waits for an object and hands it to process, which nothing else can happen
// to the queue during. It returns the object and what process returned.
func (f *FIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	isInInitialList := !f.hasSynced()
	for {
		deltas, err := f.pop()
		if err != nil {
			return nil, err
		}
		newest := deltas[len(deltas)-1]
		if newest.Type == deltafifo.Deleted {
			f.processed(1)
			continue
		}
		defer f.processed(1)
		return newest.Object, process(newest.Object, isInInitialList)
	}
}
