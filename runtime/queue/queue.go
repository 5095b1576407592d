package queue

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue is a work queue, see the package documentation. New makes it. All methods are safe for
// concurrent use.
type Queue[T comparable] struct {
	mu    sync.Mutex
	table table[T]
	ready ready
	// inProcess is the number of items between Get and Done.
	inProcess int
	// readded is the number of items in process that were added again.
	readded int
	waiters waiters
	// gate is nil if no item is ever held back.
	gate   *gate[T]
	base   timebase
	delays schedule

	// handedOut counts the calls of Get that returned an item.
	handedOut uint64

	shutting bool
	// idle is closed when nothing is in process, empty when nothing is ready either. They are nil
	// unless somebody waits for that.
	idle, empty chan struct{}

	merge      bool
	priorityOf func(T) int
	contextOf  func(context.Context, T) context.Context
	skip       func(item T, old, changed any) bool
	finish     func(item T)
	// ranks is nil unless the queue has priorities.
	ranks   *ranks
	limiter workqueue.TypedRateLimiter[T]
	failing atomic.Pointer[failures[T]]
	metrics *recorder
	// late is nil if no item was released late.
	late *late[T]
	// history is nil unless what happens to items is kept. Only the lock makes its lines safe.
	history atomic.Pointer[history[T]]
}

// New returns an empty queue. It panics when the Config combines Order with Priority, Ageing or Flow.
func New[T comparable](c Config[T]) *Queue[T] {
	q := &Queue[T]{
		table:      newTable[T](),
		base:       newTimebase(c.Clock),
		merge:      c.MergeDelayed,
		priorityOf: c.Priority,
		contextOf:  c.Context,
		skip:       c.Skip,
		finish:     c.Finish,
		limiter:    c.Limiter,
	}
	if c.Gate != nil {
		q.gate = &gate[T]{hold: c.Gate, why: c.Why}
	}
	if q.limiter == nil {
		q.limiter = workqueue.DefaultTypedControllerRateLimiter[T]()
	}
	q.ready = q.newReady(&c)
	q.delays = newSchedule(&q.base, q.deliver)
	if c.Metrics != nil {
		q.metrics = newRecorder(c.Metrics, &q.base, &q.mu)
		q.showParked()
	}
	return q
}

// Add makes item ready, unless it is. An item in process becomes ready with Done. A queue that has
// been shut down ignores it.
func (q *Queue[T]) Add(item T) { q.insert(item, false, 0, q.priority(item, nil)) }

// AddAfter adds item when the delay is over, never earlier; at once if the delay is 0 or less. Of
// several delays of an item the one that ends first counts. A delayed item can be ready or in process
// as well. A queue that has been shut down ignores it.
func (q *Queue[T]) AddAfter(item T, delay time.Duration) {
	q.insert(item, true, delay, q.priority(item, nil))
}

// AddRateLimited adds item after the delay that the limiter returns.
func (q *Queue[T]) AddRateLimited(item T) { q.AddAfter(item, q.When(item)) }

// AddWith adds item with options.
func (q *Queue[T]) AddWith(item T, o AddOptions) {
	delay := o.After
	if o.RateLimited {
		delay = max(delay, q.When(item))
	}
	q.insert(item, delay > 0 || o.RateLimited, delay, q.priority(item, o.Priority))
}

// NumRequeues returns the number of item's failures that the limiter has counted.
func (q *Queue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// Cancel removes a delayed copy of item and reports whether there was one. It doesn't affect an item
// that is ready or in process.
func (q *Queue[T]) Cancel(item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := q.table.find(item)
	if id == 0 || !q.delays.cancel(id) {
		return false
	}
	q.note(id, "its delay was cancelled")
	q.delays.arm()
	q.dropIfUnused(id)
	return true
}

// Len returns the number of items that are ready; items in process, delayed and parked ones don't count.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len()
}

// Pending returns the number of items that were added and not yet handed out: Len, those that wait for
// their Done to become ready again, and parked ones. Delayed items don't count.
func (q *Queue[T]) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len() + q.readded + q.parked()
}

// Get waits for an item that is ready and hands it out. The caller must call Done with it. When the
// queue has been shut down and nothing is ready, shutdown is true and item is the zero value. See
// ShutDown for when a later Get can still return an item.
func (q *Queue[T]) Get() (item T, shutdown bool) {
	item, _, err := q.get(context.Background())
	return item, err != nil
}

// GetWithPriority is Get that also returns the item's priority: the highest with which it was added
// since it was last handed out; 0 in a queue without priorities.
func (q *Queue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	item, p, err := q.get(context.Background())
	return item, int(p), err != nil
}

// ErrShutDown is the error of GetContext and GetBatch when the queue has been shut down and nothing is
// ready.
var ErrShutDown = errors.New("queue: shut down")

// GetContext is Get with a context. It returns the context's error when ctx is done, even if an item
// is ready, and ErrShutDown where Get returns true. No item is lost when ctx ends meanwhile.
func (q *Queue[T]) GetContext(ctx context.Context) (T, error) {
	item, _, err := q.get(ctx)
	return item, err
}

// GetBatch waits like GetContext until an item is ready, and then hands out up to n of the ready
// items, in their order; an n below 1 counts as 1. Each of them needs its own Done.
func (q *Queue[T]) GetBatch(ctx context.Context, n int) ([]T, error) {
	err := q.await(ctx)
	defer q.unlock()
	if err != nil {
		return nil, err
	}
	batch := make([]T, 0, min(max(n, 1), q.ready.len()))
	for len(batch) < cap(batch) && q.ready.len() > 0 {
		item, _ := q.popReady()
		batch = append(batch, item)
	}
	return batch, nil
}

// Done ends the processing of an item from Get. An item that was added meanwhile becomes ready. Done
// of an item that isn't in process does nothing.
func (q *Queue[T]) Done(item T) {
	if q.finish != nil {
		q.finish(item)
	}
	q.mu.Lock()
	defer q.unlock()
	id := q.table.find(item)
	if id == 0 {
		return
	}
	state := &q.table.at(id).state
	if *state&inProcess == 0 {
		return
	}
	q.inProcess--
	var took time.Duration
	if q.metrics != nil {
		took = q.metrics.done(id)
		if q.shutting {
			q.metrics.shutDown()
		}
	}
	if took >= slowRun || *state&isKept != 0 {
		q.noteDone(id, took)
	}
	wasAdded := *state&again != 0
	*state &^= inProcess | again
	// idle and empty are those of callers that wait, and with the lock held none can begin to.
	if q.inProcess == 0 && (q.idle != nil || q.empty != nil) {
		defer q.endDrains() // also when a function of the Config panics
	}
	if wasAdded {
		q.readded--
		q.push(id)
	} else {
		q.dropIfUnused(id)
	}
}

// insert adds item after a delay, at once if that is 0 or less. retry counts it in the metrics as
// added with a delay.
func (q *Queue[T]) insert(item T, retry bool, delay time.Duration, priority int32) {
	q.mu.Lock()
	defer q.unlock()
	if q.shutting {
		return
	}
	if retry && q.metrics != nil {
		q.metrics.Retries.Inc()
	}
	id := q.table.slotOf(item)
	if h := q.history.Load(); h != nil {
		q.noteAddition(h, id, delay, priority)
	}
	if delay > 0 && !(q.merge && q.table.at(id).state&waits != 0) {
		q.delay(id, delay, priority)
		return
	}
	if q.merge && q.delays.has(id) {
		priority = max(priority, q.delays.priority(id))
		q.delays.cancel(id)
		q.delays.arm()
	}
	q.add(id, priority)
}

// delay puts the item of a slot on the schedule.
func (q *Queue[T]) delay(id uint32, delay time.Duration, priority int32) {
	if q.delays.due(id) <= after(q.base.atLeast(), delay) && q.ranks == nil {
		return // It is due earlier already. This saves reading the clock, 50 ns.
	}
	if q.delays.set(id, after(q.base.now(), delay), priority) {
		q.delays.arm()
	}
}

// deliver adds the items that are due. It releases the lock after each burst, so that others get it. The
// schedule's alarm calls it.
func (q *Queue[T]) deliver() {
	q.mu.Lock()
	if !q.delays.startDelivery() {
		q.mu.Unlock()
		return
	}
	for {
		now := q.base.now()
		for range deliveryBurst {
			id, priority := q.delays.pop(now)
			if id == 0 {
				q.delays.endDelivery()
				q.unlock()
				return
			}
			q.note(id, "its delay is over")
			q.add(id, priority)
		}
		q.unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
}

// add makes the item of a slot ready, or marks it while it is in process.
func (q *Queue[T]) add(id uint32, priority int32) {
	state := &q.table.at(id).state
	if *state&waits != 0 {
		raised := q.raise(id, priority)
		if *state&isReady != 0 {
			q.ready.touch(id, raised)
		}
		return
	}
	if q.ranks != nil {
		q.ranks.enter(id, priority)
	}
	if *state&inProcess != 0 {
		*state |= again
		q.readded++
	} else {
		q.push(id)
	}
	if q.metrics != nil {
		q.metrics.added(id, priority)
	}
}

// push makes the item of a slot ready, or parks it. If a function of the Config panics the item is
// neither, and the next Add tries again.
func (q *Queue[T]) push(id uint32) {
	if q.gate != nil && q.park(id) {
		q.note(id, parked)
		return
	}
	q.makeReady(id)
}

// raise raises the priority of an item that is ready or waits for Done, and reports whether it was
// lower.
func (q *Queue[T]) raise(id uint32, priority int32) bool {
	if q.ranks == nil {
		return false
	}
	before, raised := q.ranks.raise(id, priority)
	if raised && q.metrics != nil {
		q.metrics.raised(before, priority)
	}
	return raised
}

// priority returns the priority with which item is added, 0 in a queue without priorities.
func (q *Queue[T]) priority(item T, given *int) int32 {
	if q.ranks == nil {
		return 0
	}
	return q.ranked(item, given)
}

// ranked is priority in a queue that has priorities. It isn't part of priority, so an Add without them
// doesn't pay for a call.
func (q *Queue[T]) ranked(item T, given *int) int32 {
	switch {
	case given != nil:
		return q.ranks.clamp(*given)
	case q.priorityOf != nil:
		return q.ranks.clamp(q.priorityOf(item))
	}
	return 0
}

// dropIfUnused removes the slot of an item that is neither ready, nor in process, nor delayed. When the
// table then frees the memory of a burst, so does everything else that is indexed by slot id.
func (q *Queue[T]) dropIfUnused(id uint32) {
	if q.table.at(id).state&^isKept != 0 || q.delays.has(id) || !q.table.remove(id) {
		return
	}
	if q.ranks != nil {
		q.ranks.of = paged[rank]{}
	}
	if f, ok := q.ready.(*fair); ok {
		f.giveBack()
	}
	if q.gate != nil {
		q.gate.orders = paged[uint64]{}
	}
	if q.metrics != nil {
		q.metrics.giveBack()
	}
}

// await waits until an item is ready. It returns with the queue locked, also with an error.
func (q *Queue[T]) await(ctx context.Context) error {
	err := ctx.Err()
	q.mu.Lock()
	for err == nil && q.ready.len() == 0 {
		if q.shutting {
			return ErrShutDown
		}
		err = q.waiters.wait(ctx, &q.mu)
	}
	return err
}

// get waits for an item and hands it out.
func (q *Queue[T]) get(ctx context.Context) (item T, priority int32, err error) {
	err = q.await(ctx)
	defer q.unlock()
	if err == nil {
		item, priority = q.popReady()
	}
	return item, priority, err
}

// popReady hands out the next ready item.
func (q *Queue[T]) popReady() (item T, priority int32) {
	id := q.ready.pop()
	q.handedOut++
	s := q.table.at(id)
	s.state &^= isReady
	if s.state&isParked != 0 {
		q.unpark(id) // A custom order handed it out of its own accord.
	}
	if s.state&inProcess == 0 {
		s.state |= inProcess
		q.inProcess++
	}
	if q.ranks != nil {
		priority = q.ranks.priority(id)
	}
	if q.metrics != nil {
		q.metrics.got(id, priority)
	}
	if s.state&isKept != 0 { // note would look the slot up again.
		q.noteKept(s.item, started)
	}
	return s.item, priority
}

// unlock releases the lock, and wakes a waiter if an item is ready.
func (q *Queue[T]) unlock() {
	var w *waiter
	if len(q.waiters.parked) > 0 && q.ready.len() > 0 {
		w = q.waiters.next()
	}
	q.mu.Unlock()
	if w != nil {
		w.wake <- struct{}{}
	}
}
