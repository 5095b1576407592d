// Package synctrack is k8s.io/client-go/tools/cache/synctrack: whoever handles
// the notifications of an informer asynchronously finds out with it when what the
// first list brought has been dealt with.
package synctrack

import (
	"sync"
	"sync/atomic"
)

// AsyncTracker is for work that is told apart by keys, done in any order. It is
// safe for concurrent use.
type AsyncTracker[T comparable] struct {
	name string
	done chan struct{}

	mu       sync.Mutex
	upstream bool
	waiting  map[T]struct{}
}

// NewAsyncTracker returns a tracker with a name for logs.
func NewAsyncTracker[T comparable](name string) *AsyncTracker[T] {
	return &AsyncTracker[T]{name: name, done: make(chan struct{}), waiting: map[T]struct{}{}}
}

// Start is to be called before the work on a key of the first list begins.
func (t *AsyncTracker[T]) Start(key T) { t.update(func() { t.waiting[key] = struct{}{} }) }

// Finished is to be called after the work on a key. It does no harm for keys that
// weren't started.
func (t *AsyncTracker[T]) Finished(key T) { t.update(func() { delete(t.waiting, key) }) }

// UpstreamHasSynced is to be called once all keys of the first list were started.
func (t *AsyncTracker[T]) UpstreamHasSynced() { t.update(func() { t.upstream = true }) }

func (t *AsyncTracker[T]) update(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
	if t.upstream && len(t.waiting) == 0 && !t.HasSynced() {
		close(t.done)
	}
}

// HasSynced says whether there was a moment at which all keys of the first list
// had been started and all that were started were finished.
func (t *AsyncTracker[T]) HasSynced() bool { return isClosed(t.done) }

// Done returns a channel that is closed once HasSynced is true.
func (t *AsyncTracker[T]) Done() <-chan struct{} { return t.done }

// Name returns the tracker's name.
func (t *AsyncTracker[T]) Name() string { return t.name }

// SingleFileTracker is for work that is done in the order of the notifications,
// and only counted. It is safe for concurrent use.
type SingleFileTracker struct {
	name string
	done chan struct{}
	once sync.Once

	upstream atomic.Bool
	count    atomic.Int64
}

// NewSingleFileTracker returns a tracker with a name for logs.
func NewSingleFileTracker(name string) *SingleFileTracker {
	return &SingleFileTracker{name: name, done: make(chan struct{})}
}

// Start is to be called before the work on an object of the first list begins.
func (t *SingleFileTracker) Start() { t.count.Add(1) }

// Finished is to be called after the work on an object, once for each call of
// Start. It panics if it is called more often.
func (t *SingleFileTracker) Finished() {
	left := t.count.Add(-1)
	if left < 0 {
		panic("synctrack: Finished was called more often than Start, so HasSynced can't be relied on")
	}
	if left == 0 && t.upstream.Load() {
		t.sync()
	}
}

// UpstreamHasSynced is to be called once all of the first list was started.
func (t *SingleFileTracker) UpstreamHasSynced() {
	// The order matters: whoever finishes the last one sees this, or is seen.
	t.upstream.Store(true)
	if t.count.Load() == 0 {
		t.sync()
	}
}

func (t *SingleFileTracker) sync() { t.once.Do(func() { close(t.done) }) }

// HasSynced says whether all of the first list was started and finished.
func (t *SingleFileTracker) HasSynced() bool { return isClosed(t.done) }

// Done returns a channel that is closed once HasSynced is true.
func (t *SingleFileTracker) Done() <-chan struct{} { return t.done }

// Name returns the tracker's name.
func (t *SingleFileTracker) Name() string { return t.name }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
