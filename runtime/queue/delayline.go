package queue

import (
	"runtime"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// DelayLine hands items on when their delay is over. It is the delaying part
// of a Queue, for those whose queue is another one. All methods are safe for
// concurrent use. Like a Queue it has no goroutine and no timer while nothing
// is delayed.
type DelayLine[T comparable] struct {
	mu      sync.Mutex
	table   table[T, struct{}]
	base    timebase
	delays  schedule
	stopped bool
	out     func(T)
}

// NewDelayLine returns a delay line that calls out with each item in its
// turn when its delay is over, one at a time and with nothing locked. A nil
// clock is the real one.
func NewDelayLine[T comparable](c clock.Clock, out func(item T)) *DelayLine[T] {
	d := &DelayLine[T]{table: newTable[T, struct{}](), base: newTimebase(c), out: out}
	d.delays = newSchedule(&d.base, d.deliver)
	return d
}

// AddAfter hands on item when the delay is over, in the call when it is 0 or
// less. Of several delays of an item that which ends first counts.
func (d *DelayLine[T]) AddAfter(item T, delay time.Duration) {
	hash := d.table.hash(item)
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
	id := d.table.slotOf(hash, item)
	if d.delays.set(id, after(d.base.now(), delay), 0) {
		d.delays.arm()
	}
}

// Cancel takes item back and tells whether it was there.
func (d *DelayLine[T]) Cancel(item T) bool {
	hash := d.table.hash(item)
	d.mu.Lock()
	defer d.mu.Unlock()
	id := d.table.find(hash, item)
	if id == 0 {
		return false
	}
	d.delays.cancel(id)
	d.table.remove(id)
	d.delays.arm()
	return true
}

// Len returns the number of items whose delay isn't over.
func (d *DelayLine[T]) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.table.len()
}

// Stop forgets all items, and those that come later. A delivery that is under
// way may still hand on what was due before.
func (d *DelayLine[T]) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.delays.stop(func(uint32) {})
	d.table.clear() // its seed is read without the lock
}

// deliver is the alarm's function.
func (d *DelayLine[T]) deliver() {
	d.mu.Lock()
	if !d.delays.rung() {
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
			d.delays.end()
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
