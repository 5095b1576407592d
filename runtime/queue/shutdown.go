package queue

import "context"

// ShutDown makes the queue ignore further additions, forget delayed items, and make parked ones ready. Ready
// items are still handed out; when nothing is ready, Get reports the shutdown. That isn't final while items
// are in process: an item that was added again becomes ready with its Done. So a caller of Done must call
// Get once more, as workers do.
//
// ShutDown doesn't wait. It ends a running ShutDownWithDrain, but not a running Drain. It can be called
// several times.
func (q *Queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutDown()
	release(&q.idle)
}

// ShutDownWithDrain calls ShutDown and then waits until nothing is in process. It doesn't wait for ready
// items, not even for one that became ready with its Done; Drain does.
func (q *Queue[T]) ShutDownWithDrain() {
	over := q.shutDownUntil(&q.idle, func() bool { return q.inProcess == 0 })
	if over != nil {
		<-over
	}
}

// shutDownUntil shuts the queue down and returns the channel that release closes at an end, nil if that is
// reached.
func (q *Queue[T]) shutDownUntil(end *chan struct{}, reached func() bool) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock() // also when a function of the Config panics
	q.shutDown()
	if reached() {
		return nil
	}
	return channel(end)
}

// Drain calls ShutDown and then waits until nothing is ready or in process. It takes no items itself: workers
// must keep calling Get and Done. It returns ctx's error when ctx ends first, but nil when there is nothing
// to wait for. After an error the queue stays shut down, and Drain can be called again.
func (q *Queue[T]) Drain(ctx context.Context) error {
	over := q.shutDownUntil(&q.empty, func() bool { return q.inProcess == 0 && q.ready.len() == 0 })
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ShuttingDown reports whether the queue has been shut down.
func (q *Queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shutting
}

// shutDown needs the lock.
func (q *Queue[T]) shutDown() {
	if q.shutting {
		return
	}
	q.shutting = true
	q.delays.stop(q.dropIfUnused)
	if q.metrics != nil {
		q.metrics.shutDown()
	}
	defer q.waiters.wakeAll() // also when a function of the Config panics
	q.releaseAll()
}

// endDrains needs the lock, and nothing must be in process.
func (q *Queue[T]) endDrains() {
	release(&q.idle)
	if q.ready.len() == 0 {
		release(&q.empty)
	}
}

// channel returns the channel that release closes.
func channel(end *chan struct{}) <-chan struct{} {
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
