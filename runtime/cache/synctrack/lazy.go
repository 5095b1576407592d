package synctrack

import (
	"sync"
	"sync/atomic"
)

// Lazy computes something when it is asked for and changed since. It is safe for
// concurrent use.
type Lazy[T any] struct {
	// Evaluate computes the value. It must not be changed once Get was called.
	Evaluate func() (T, error)

	current atomic.Pointer[evaluation[T]]
}

// evaluation is one value, of which there is at most one computation at a time.
type evaluation[T any] struct {
	mu    sync.RWMutex
	valid bool
	value T
}

// Notify says that something changed. A computation that is under way is for
// those who wait for it; later calls of Get start another.
func (z *Lazy[T]) Notify() { z.current.Store(new(evaluation[T])) }

// Get returns the value, computed after the last Notify. An error is returned to
// its caller and not remembered.
func (z *Lazy[T]) Get() (T, error) {
	e := z.current.Load()
	for e == nil {
		z.current.CompareAndSwap(nil, new(evaluation[T]))
		e = z.current.Load()
	}
	e.mu.RLock()
	value, valid := e.value, e.valid
	e.mu.RUnlock()
	if valid {
		return value, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.valid {
		return e.value, nil
	}
	value, err := z.Evaluate()
	if err == nil {
		e.value, e.valid = value, true
	}
	return value, err
}
