package queue

import (
	"math"
	"time"
)

// Queue is a work queue, see the package documentation. It is made by New.
// All methods are safe for concurrent use.
type Queue[T comparable] struct {
	mu    mutex
	table table[T, entry]
	ready ready
	// inProcess is the number of items that Get has handed out and that are
	// not Done.
	inProcess int
	waiters   waiters
	base      timebase
	delays    schedule
	shutting bool
	// idle and empty are closed at the end of a drain; nil when nobody waits.
	idle, empty chan struct{}

	merge      bool
	priorityOf func(T) int
	// ranks is nil unless the queue has priorities.
	ranks   *ranks
	limiter Limiter[T]
	metrics *recorder
}

// entry is what the queue knows of an item besides the item; that it is
// delayed is known to the schedule. An item that is neither ready, nor in
// process, nor delayed has no entry.
type entry struct{ state state }

type state uint8

const (
	// isReady: waiting for Get.
	isReady state = 1 << iota
	// inProcess: between Get and Done.
	inProcess
	// again: added while in process, ready with Done.
	again
)

// New returns an empty queue. It holds no goroutine and no timer until an
// item is delayed, or in process with Metrics set.
func New[T comparable](c Config[T]) *Queue[T] {
	q := &Queue[T]{
		table:      newTable[T, entry](),
		base:       newTimebase(c.Clock),
		merge:      c.MergeDelayed,
		priorityOf: c.Priority,
		limiter:    c.Limiter,
	}
	if q.limiter == nil {
		q.limiter = DefaultLimiter[T]()
	}
	q.ready = q.order(&c)
	q.delays = newSchedule(&q.base, q.deliver)
	if c.Metrics != nil {
		q.metrics = newRecorder(c.Metrics, &q.base, &q.mu)
	}
	return q
}

// AddOptions says how an item is added.
type AddOptions struct {
	// After is the delay, none when it is 0 or less.
	After time.Duration
	// RateLimited lets the limiter decide on the delay; the longer of the two
	// delays counts.
	RateLimited bool
	// Priority is the item's priority this time, in place of what
	// Config.Priority says. When the item is waiting already the higher
	// priority counts.
	Priority *int
}

// Add makes item ready, unless it is. When it is in process it becomes ready
// with Done. A queue that has been shut down ignores it.
func (q *Queue[T]) Add(item T) { q.insert(item, false, 0, q.priority(item, nil)) }

// AddAfter adds item when the delay is over, never earlier; at once when the
// delay is 0 or less. Of several delays of an item that which ends first
// counts. An item can be ready or in process, and delayed as well. A queue
// that has been shut down ignores it and forgets what is delayed.
func (q *Queue[T]) AddAfter(item T, delay time.Duration) {
	q.insert(item, true, delay, q.priority(item, nil))
}

// AddRateLimited adds item after the delay that the limiter asks for.
func (q *Queue[T]) AddRateLimited(item T) { q.AddAfter(item, q.limiter.When(item)) }

// AddWith adds item as the options say.
func (q *Queue[T]) AddWith(item T, o AddOptions) {
	delay := o.After
	if o.RateLimited {
		delay = max(delay, q.limiter.When(item))
	}
	q.insert(item, delay > 0 || o.RateLimited, delay, q.priority(item, o.Priority))
}

// Forget makes the limiter forget item's failures. Whoever uses
// AddRateLimited must call it when an item succeeded or is given up. It
// doesn't replace Done.
func (q *Queue[T]) Forget(item T) { q.limiter.Forget(item) }

// NumRequeues returns the number of failures of item that the limiter has
// counted.
func (q *Queue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

// Cancel takes back a delayed copy of item and tells whether there was one.
// It doesn't touch item when it is ready or in process.
func (q *Queue[T]) Cancel(item T) bool {
	hash := q.table.hash(item)
	q.mu.Lock()
	defer q.mu.Unlock()
	id := q.table.find(hash, item)
	if id == 0 || !q.delays.cancel(id) {
		return false
	}
	q.delays.arm()
	q.dropIfUnused(id)
	return true
}

// Len returns the number of items that are ready: not those in process, not
// those delayed.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len()
}

// Done ends the processing of item, which Get handed out. If the item was
// added meanwhile it is ready again. Done of an item that isn't in process
// does nothing.
func (q *Queue[T]) Done(item T) {
	hash := q.table.hash(item)
	q.mu.Lock()
	defer q.unlock()
	id := q.table.find(hash, item)
	if id == 0 {
		return
	}
	e := &q.table.at(id).value
	if e.state&inProcess == 0 {
		return
	}
	q.inProcess--
	if q.metrics != nil {
		q.metrics.done(id)
	}
	wasAdded := e.state&again != 0
	e.state &^= inProcess | again
	if q.inProcess == 0 {
		defer q.settle() // also when a hook panics
	}
	if wasAdded {
		q.push(id, q.raise(id, math.MinInt32))
	} else {
		q.dropIfUnused(id)
	}
}

// insert adds item after a delay, at once when that is 0 or less. retry tells
// the metrics that there might have been one.
func (q *Queue[T]) insert(item T, retry bool, delay time.Duration, priority int32) {
	hash := q.table.hash(item)
	q.mu.Lock()
	defer q.unlock()
	if q.shutting {
		return
	}
	if retry && q.metrics != nil {
		q.metrics.Retries.Inc()
	}
	if delay > 0 {
		q.delay(hash, item, delay, priority)
		return
	}
	id := q.table.slotOf(hash, item)
	if q.merge && q.delays.has(id) {
		priority = max(priority, q.delays.priority(id))
		q.delays.cancel(id)
		q.delays.arm()
	}
	q.add(id, priority)
}

// delay puts item on the schedule.
func (q *Queue[T]) delay(hash uint32, item T, delay time.Duration, priority int32) {
	id := q.table.slotOf(hash, item)
	if q.delays.due(id) <= after(q.base.atLeast(), delay) && q.ranks == nil {
		return // it is due earlier as it is; no need to ask for the time
	}
	if q.delays.set(id, after(q.base.now(), delay), priority) {
		q.delays.arm()
	}
}

// add makes the item of a slot ready, or marks it when it is in process.
func (q *Queue[T]) add(id uint32, priority int32) {
	e := &q.table.at(id).value
	if e.state&(isReady|again) != 0 {
		before := q.raise(id, priority)
		if e.state&isReady != 0 {
			q.ready.touch(id, before, priority)
		}
		return
	}
	if q.ranks != nil {
		q.ranks.of.grow(int(id) + 1)
		q.ranks.of.at(int(id)).priority = priority
	}
	if e.state&inProcess != 0 {
		e.state |= again
	} else {
		q.push(id, priority)
	}
	if q.metrics != nil {
		q.metrics.added(id)
	}
}

// push makes the item of a slot ready. If a hook of the caller's panics, it isn't:
// the next one who adds it tries again.
func (q *Queue[T]) push(id uint32, priority int32) {
	q.ready.push(id, priority)
	q.table.at(id).value.state |= isReady
}

// raise raises the priority of an item that is ready or waits for Done, and
// returns what it was.
func (q *Queue[T]) raise(id uint32, priority int32) (before int32) {
	if q.ranks == nil {
		return 0
	}
	p := &q.ranks.of.at(int(id)).priority
	before = *p
	*p = max(before, priority)
	return before
}

// dropIfUnused gives the slot back of an item that is nowhere any more. When the
// table says that a burst is over, everything that was kept by id goes too.
func (q *Queue[T]) dropIfUnused(id uint32) {
	if q.table.at(id).value.state != 0 || q.delays.has(id) || !q.table.remove(id) {
		return
	}
	if q.ranks != nil {
		q.ranks.of = paged[rank]{}
	}
	if f, ok := q.ready.(*fair); ok {
		f.giveBack()
	}
	if q.metrics != nil {
		q.metrics.giveBack()
	}
}

func (q *Queue[T]) priority(item T, given *int) int32 {
	p := 0
	switch {
	case given != nil:
		p = *given
	case q.priorityOf != nil:
		p = q.priorityOf(item)
	}
	return int32(min(max(p, -maxPriority), maxPriority))
}
