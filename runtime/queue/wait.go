package queue

import (
	"context"
	"errors"
)

// ErrShutDown is the error of GetContext and GetBatch when the queue has been
// shut down and nothing is ready.
var ErrShutDown = errors.New("queue: shut down")

// Get waits for an item that is ready and hands it out. The caller owns it
// until Done, which it must call. shutdown is true, and item the zero value,
// when the queue has been shut down and nothing is ready: see ShutDown for when
// that can change.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	item, err := q.GetContext(context.Background())
	return item, err != nil
}

// GetContext is Get with a way out: it returns the context's error when ctx is
// done, also when an item is ready, and ErrShutDown where Get says shutdown. An
// item is never lost to a context that ends at the same time.
func (q *Queue[T]) GetContext(ctx context.Context) (T, error) {
	err := q.await(ctx)
	defer q.unlock()
	if err != nil {
		var none T
		return none, err
	}
	return q.take(), nil
}

// GetBatch waits like GetContext until an item is ready and hands out up to n
// of those that are ready then, in their order; an n below 1 counts as 1. It
// doesn't wait for more. Each is in process until its own Done.
func (q *Queue[T]) GetBatch(ctx context.Context, n int) ([]T, error) {
	err := q.await(ctx)
	defer q.unlock()
	if err != nil {
		return nil, err
	}
	batch := make([]T, 0, min(max(n, 1), q.ready.len()))
	for len(batch) < cap(batch) && q.ready.len() > 0 {
		batch = append(batch, q.take())
	}
	return batch, nil
}

// take puts the next ready item in process.
func (q *Queue[T]) take() T {
	id := q.ready.pop()
	s := q.table.at(id)
	s.value.state &^= isReady
	if s.value.state&inProcess == 0 {
		s.value.state |= inProcess
		q.inProcess++
	}
	if q.metrics != nil {
		q.metrics.got(id)
	}
	return s.item
}

// waiters are the goroutines that wait in Get. One is woken at a time: it
// takes its item, and unlock then wakes the next if there is more. Meanwhile
// workers that never slept take what they can, and need no waking. That is
// what makes a busy queue cheap, and no item waits while a worker sleeps
// except for the moment that waking takes.
type waiters struct {
	// parked wait, woken last in, first out.
	parked []*waiter
	// waking tells that one has been woken and hasn't got the lock yet.
	waking bool
	// spare keeps what waiting needs for the next that waits.
	spare []*waiter
}

type waiter struct {
	wake chan struct{}
}

// await returns with the queue locked and something ready, or with an error.
func (q *Queue[T]) await(ctx context.Context) error {
	done := ctx.Done()
	if err := ctx.Err(); err != nil {
		q.mu.Lock()
		return err
	}
	q.mu.Lock()
	for q.ready.len() == 0 {
		if q.shutting {
			return ErrShutDown
		}
		w := q.waiters.park()
		q.mu.Unlock()
		var err error
		if done == nil {
			<-w.wake
		} else {
			select {
			case <-w.wake:
			case <-done:
				err = ctx.Err()
			}
		}
		q.mu.Lock()
		if err != nil && q.waiters.leave(w) {
			return err
		}
		if err != nil {
			// It was woken as well. The lock is free for the waker's send,
			// which may be still to come.
			<-w.wake
		}
		q.waiters.waking = false
		q.waiters.spare = append(q.waiters.spare, w)
		if err != nil {
			return err
		}
	}
	return nil
}

// unlock releases the queue, and wakes a waiter if there is something for it.
func (q *Queue[T]) unlock() {
	if !q.waiters.need() || q.ready.len() == 0 {
		q.mu.Unlock()
		return
	}
	w := q.waiters.next()
	q.mu.Unlock()
	w.wake <- struct{}{}
}

func (ws *waiters) park() *waiter {
	var w *waiter
	if last := len(ws.spare) - 1; last >= 0 {
		w = ws.spare[last]
		ws.spare = ws.spare[:last]
	} else {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	ws.parked = append(ws.parked, w)
	return w
}

// need tells whether a waiter is to be woken if something is ready.
func (ws *waiters) need() bool { return len(ws.parked) > 0 && !ws.waking }

// next picks the waiter to wake.
func (ws *waiters) next() *waiter {
	last := len(ws.parked) - 1
	ws.waking = true
	w := ws.parked[last]
	ws.parked = ws.parked[:last]
	return w
}

// leave takes w from the parked, and tells whether it was still there: if not,
// it has been woken.
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

// all takes all the parked, for the end of the queue.
func (ws *waiters) all() []*waiter {
	parked := ws.parked
	ws.parked = nil
	return parked
}
