package queue

import "context"

// ShutDown makes the queue ignore what is added from now on, and forget what
// is delayed. What is ready is still handed out, and when nothing is ready Get
// reports the end. That isn't final as long as something is in process: an item
// that had been added again becomes ready with its Done, so whoever calls Done
// calls Get once more, as a worker does. ShutDown doesn't wait, and ends the
// waiting of ShutDownWithDrain, but not that of Drain. It can be called any
// number of times.
func (q *Queue[T]) ShutDown() {
	q.mu.Lock()
	q.shutDown()
	release(&q.idle)
	q.mu.Unlock()
}

// ShutDownWithDrain is ShutDown, and then waits until nothing is in process.
// It waits for nothing else, in particular not for items that are ready and
// that perhaps nobody takes any more; Drain does. An item that had been added
// again while in process is ready after its Done, and no longer waited for.
func (q *Queue[T]) ShutDownWithDrain() {
	q.mu.Lock()
	q.shutDown()
	if q.inProcess == 0 {
		q.mu.Unlock()
		return
	}
	over := wait(&q.idle)
	q.mu.Unlock()
	<-over
}

// Drain is ShutDown, and then waits until nothing is ready and nothing is in
// process: with nil it returns at once when that is so already, whatever ctx
// says. It takes nothing itself, so someone else must go on calling Get and
// Done. It returns ctx's error when ctx ends first; the queue stays shut down,
// and Drain can be called again.
func (q *Queue[T]) Drain(ctx context.Context) error {
	q.mu.Lock()
	q.shutDown()
	if q.inProcess == 0 && q.ready.len() == 0 {
		q.mu.Unlock()
		return nil
	}
	over := wait(&q.empty)
	q.mu.Unlock()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ShuttingDown tells whether the queue has been shut down.
func (q *Queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shutting
}

// shutDown needs the lock. All waiters are woken to see the end.
func (q *Queue[T]) shutDown() {
	if q.shutting {
		return
	}
	q.shutting = true
	q.delays.stop(q.dropIfUnused)
	for _, w := range q.waiters.all() {
		w.wake <- struct{}{}
	}
}

// settle needs the lock and is called when nothing is in process.
func (q *Queue[T]) settle() {
	release(&q.idle)
	if q.ready.len() == 0 {
		release(&q.empty)
	}
}

// wait returns the channel that release closes.
func wait(end *chan struct{}) <-chan struct{} {
	if *end == nil {
		*end = make(chan struct{})
	}
	return *end
}

func release(end *chan struct{}) {
	if *end != nil {
		close(*end)
		*end = nil
	}
}
