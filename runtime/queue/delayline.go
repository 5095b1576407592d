package queue

import (
	"runtime"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// DelayLine passes items on when their delay is over: the delaying part of a Queue, for items that go
// elsewhere. All methods are safe for concurrent use. Like a Queue it has no goroutine and no timer
// while nothing is delayed.
type DelayLine[T comparable] struct {
	mu      sync.Mutex
	table   table[T]
	base    timebase
	delays  schedule
	stopped bool
	out     func(T)
}

// NewDelayLine returns a delay line that calls out with each item when its delay is over, one at a time
// and without a lock. A nil clock means the real one.
func NewDelayLine[T comparable](c clock.Clock, out func(item T)) *DelayLine[T] {
	d := &DelayLine[T]{table: newTable[T](), base: newTimebase(c), out: out}
	d.delays = newSchedule(&d.base, d.deliver)
	return d
}

// AddAfter passes item on when the delay is over, or during the call if the delay is 0 or less. Of
// several delays of an item the one that ends first counts.
func (d *DelayLine[T]) AddAfter(item T, delay time.Duration) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	if delay <= 0 {
		d.mu.Unlock()
		d.out(item)
		return
	}
	defer d.mu.Unlock()
	id := d.table.slotOf(item)
	if d.delays.set(id, after(d.base.now(), delay), 0) {
		d.delays.arm()
	}
}

// Cancel removes item and reports whether it was delayed.
func (d *DelayLine[T]) Cancel(item T) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := d.table.find(item)
	if id == 0 {
		return false
	}
	d.delays.cancel(id)
	d.table.remove(id)
	d.delays.arm()
	return true
}

// Len returns the number of delayed items.
func (d *DelayLine[T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.delays.n
}

// Stop removes all items and makes AddAfter do nothing. A delivery in progress may still pass on items
// that were due before.
func (d *DelayLine[T]) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.delays.stop(func(uint32) {})
	d.table = newTable[T]()
}

// deliver passes on the items that are due. The schedule's alarm calls it.
func (d *DelayLine[T]) deliver() {
	d.mu.Lock()
	if !d.delays.startDelivery() {
		d.mu.Unlock()
		return
	}
	burst := make([]T, 0, 8)
	for {
		for now := d.base.now(); len(burst) < deliveryBurst; {
			id, _ := d.delays.pop(now)
			if id == 0 {
				break
			}
			item := d.table.at(id).item
			d.table.remove(id)
			burst = append(burst, item)
		}
		if len(burst) == 0 {
			d.delays.endDelivery()
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		for _, item := range burst {
			d.out(item)
		}
		clear(burst)
		burst = burst[:0]
		runtime.Gosched()
		d.mu.Lock()
	}
}
