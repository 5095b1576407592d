package queue

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// mutex is a sync.Mutex for critical sections of a few dozen nanoseconds: before Lock sleeps, it retries, at
// first at once and then with a yield in between. A sync.Mutex stops retrying as soon as another goroutine
// waits for the processor, and sleeping costs more than a whole operation of the queue.
//
// Nobody starves: TryLock fails once a sleeper has waited for a millisecond, as with any sync.Mutex.
type mutex struct {
	sync.Mutex
	// adders is the number of callers of lockToAdd that wait.
	adders atomic.Int32
}

// Found by measurement with 4 to 64 workers on two processors.
const (
	tries       = 20
	triesAtOnce = 10
)

// Lock locks the mutex.
func (m *mutex) Lock() {
	for i := range tries {
		if m.TryLock() {
			return
		}
		if i >= triesAtOnce {
			runtime.Gosched()
		}
	}
	m.Mutex.Lock()
}

// lockToAdd is Lock for adding an item: a delivery gives way to it. Otherwise an event handler that adds an
// item would wait until a whole burst has come off the heap, 40 µs if the heap is large.
func (m *mutex) lockToAdd() {
	if m.TryLock() {
		return
	}
	m.adders.Add(1)
	m.Lock()
	m.adders.Add(-1)
}

// giveWay yields, without the lock, so that others get it. If a caller waits to add, giveWay yields for
// longer, 1 or 2 µs: a handler that adds many items can then add several before it has to wait again.
func (m *mutex) giveWay(adderWaits bool) {
	runtime.Gosched()
	for i := 0; adderWaits && i < tries; i++ {
		runtime.Gosched()
	}
}

// waiters are the goroutines that wait in Get, guarded by the queue's lock. One is woken at a time:
// it takes its item, and wakes the next one if another item is ready. Workers that are awake meanwhile
// take items without being woken, which makes a busy queue cheap.
type waiters struct {
	// parked are asleep; the last one is woken first.
	parked []*waiter
	// waking is true from the moment a waiter is chosen until it has the lock.
	waking bool
	// spare are waiters for reuse.
	spare []*waiter
}

type waiter struct{ wake chan struct{} }

// wait releases mu until the caller is woken or ctx ends, and takes it again.
func (ws *waiters) wait(ctx context.Context, mu *mutex) error {
	var w *waiter
	if last := len(ws.spare) - 1; last >= 0 {
		w = ws.spare[last]
		ws.spare = ws.spare[:last]
	} else {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	ws.parked = append(ws.parked, w)
	mu.Unlock()
	var err error
	if done := ctx.Done(); done == nil {
		<-w.wake // cheaper than select
	} else {
		select {
		case <-w.wake:
		case <-done:
			err = ctx.Err()
		}
	}
	mu.Lock()
	if err != nil {
		if ws.leave(w) {
			return err
		}
		// It was woken as well. The waker sends without the lock, perhaps only now.
		<-w.wake
	}
	ws.waking = false
	ws.spare = append(ws.spare, w)
	return err
}

// next returns the waiter to wake, nil if one is being woken already. At least one must be parked. The
// caller sends to wake after it has released the lock.
func (ws *waiters) next() *waiter {
	if ws.waking {
		return nil
	}
	ws.waking = true
	last := len(ws.parked) - 1
	w := ws.parked[last]
	ws.parked = ws.parked[:last]
	return w
}

// leave removes w from parked and reports whether it was there: if not, it has been woken.
func (ws *waiters) leave(w *waiter) bool {
	for i, parked := range ws.parked {
		if parked == w {
			ws.parked = append(ws.parked[:i], ws.parked[i+1:]...)
			ws.spare = append(ws.spare, w)
			return true
		}
	}
	return false
}

// wakeAll wakes all waiters, at the shutdown. The channels are buffered, so it doesn't block.
func (ws *waiters) wakeAll() {
	for _, w := range ws.parked {
		w.wake <- struct{}{}
	}
	ws.parked = nil
}
