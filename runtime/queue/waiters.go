package queue

import (
	"context"
	"sync"
)

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
func (ws *waiters) wait(ctx context.Context, mu *sync.Mutex) error {
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
		if ws.unpark(w) {
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

// unpark removes w from parked and reports whether it was there: if not, it has been woken.
func (ws *waiters) unpark(w *waiter) bool {
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
