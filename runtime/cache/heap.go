package cache

import (
	"container/heap"
	"errors"
	"sync"
)

// Heap is a queue that gives the least object first. An object has a place by
// its key: adding one of the same key replaces it. It is safe for concurrent
// use; what the key and less functions look at must not change meanwhile.
type Heap struct {
	mu     sync.Mutex
	added  sync.Cond // an object, or closed
	heap   *keyedHeap
	closed bool
}

var (
	errHeapClosed = errors.New("heap is closed")
	errNotInHeap  = errors.New("object not found")
)

// NewHeap returns an empty heap, ordered by lessFn.
func NewHeap(keyFn KeyFunc, lessFn LessFunc) *Heap {
	h := &Heap{heap: &keyedHeap{key: keyFn, less: lessFn, places: map[string]*heapItem{}}}
	h.added.L = &h.mu
	return h
}

// Close wakes whoever waits in Pop. Nothing can be added any more; what is there
// can still be taken.
func (h *Heap) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.added.Broadcast()
}

// IsClosed says whether Close was called.
func (h *Heap) IsClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Add adds an object or replaces the one of its key.
func (h *Heap) Add(obj any) error {
	key, err := h.keyOf(obj)
	if err != nil {
		return err
	}
	return h.change(func() error {
		h.put(key, obj)
		return nil
	})
}

// Update is Add.
func (h *Heap) Update(obj any) error { return h.Add(obj) }

// AddIfNotPresent adds an object if there is none of its key.
func (h *Heap) AddIfNotPresent(obj any) error {
	key, err := h.keyOf(obj)
	if err != nil {
		return err
	}
	return h.change(func() error {
		if h.heap.places[key] == nil {
			h.put(key, obj)
		}
		return nil
	})
}

// BulkAdd adds objects, up to the first that has no key, at once.
func (h *Heap) BulkAdd(list []any) error {
	return h.change(func() error {
		for _, obj := range list {
			key, err := h.keyOf(obj)
			if err != nil {
				return err
			}
			h.put(key, obj)
		}
		return nil
	})
}

// Delete removes the object of obj's key. It is an error if there is none.
func (h *Heap) Delete(obj any) error {
	key, err := h.keyOf(obj)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	item := h.heap.places[key]
	if item == nil {
		return errNotInHeap
	}
	heap.Remove(h.heap, item.place)
	return nil
}

// Pop removes and returns the least object. It waits until there is one, and
// fails if the heap is closed before.
func (h *Heap) Pop() (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.heap.Len() == 0 {
		if h.closed {
			return nil, errHeapClosed
		}
		h.added.Wait()
	}
	return heap.Pop(h.heap).(*heapItem).obj, nil
}

// List returns the objects, in no particular order.
func (h *Heap) List() []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]any, 0, h.heap.Len())
	for _, item := range h.heap.items {
		list = append(list, item.obj)
	}
	return list
}

// ListKeys returns the keys of the objects, in no particular order.
func (h *Heap) ListKeys() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	keys := make([]string, 0, h.heap.Len())
	for _, item := range h.heap.items {
		keys = append(keys, item.key)
	}
	return keys
}

// Get returns the object of obj's key.
func (h *Heap) Get(obj any) (any, bool, error) {
	key, err := h.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return h.GetByKey(key)
}

// GetByKey returns the object of a key. The error is always nil.
func (h *Heap) GetByKey(key string) (any, bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if item := h.heap.places[key]; item != nil {
		return item.obj, true, nil
	}
	return nil, false, nil
}

func (h *Heap) keyOf(obj any) (string, error) {
	key, err := h.heap.key(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// change does something that may add objects.
func (h *Heap) change(f func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHeapClosed
	}
	defer h.added.Broadcast()
	return f()
}

func (h *Heap) put(key string, obj any) {
	if item := h.heap.places[key]; item != nil {
		item.obj = obj
		heap.Fix(h.heap, item.place)
		return
	}
	heap.Push(h.heap, &heapItem{key: key, obj: obj})
}

// keyedHeap is a container/heap whose items know their places.
type keyedHeap struct {
	key    KeyFunc
	less   LessFunc
	items  []*heapItem
	places map[string]*heapItem
}

type heapItem struct {
	key   string
	obj   any
	place int
}

func (h *keyedHeap) Len() int           { return len(h.items) }
func (h *keyedHeap) Less(i, j int) bool { return h.less(h.items[i].obj, h.items[j].obj) }

func (h *keyedHeap) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].place, h.items[j].place = i, j
}

func (h *keyedHeap) Push(x any) {
	item := x.(*heapItem)
	item.place = len(h.items)
	h.items = append(h.items, item)
	h.places[item.key] = item
}

func (h *keyedHeap) Pop() any {
	last := len(h.items) - 1
	item := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	delete(h.places, item.key)
	return item
}
