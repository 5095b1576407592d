package queue

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// timebase counts nanoseconds from the moment it was made. It is guarded by the
// lock of its owner.
type timebase struct {
	// injected is nil for the real clock.
	injected clock.Clock
	start    time.Time
	// last is what the real clock said last.
	last int64
}

func newTimebase(c clock.Clock) timebase {
	switch c.(type) {
	case nil, clock.RealClock, *clock.RealClock:
		return timebase{start: time.Now()}
	}
	return timebase{injected: c, start: c.Now()}
}

func (t *timebase) now() int64 {
	if t.injected != nil {
		return int64(t.injected.Since(t.start))
	}
	t.last = int64(time.Since(t.start))
	return t.last
}

// atLeast returns a time that has passed for certain, and costs nothing: the
// real clock never goes back. Of an injected one nothing is certain.
func (t *timebase) atLeast() int64 {
	if t.injected != nil {
		return math.MinInt64
	}
	return t.last
}

func (t *timebase) until(due int64) time.Duration { return time.Duration(due - t.now()) }

// after adds without overflow.
func after(now int64, d time.Duration) int64 {
	if due := now + int64(d); due >= now {
		return due
	}
	return never - 1
}

// alarm calls a function once, when the time that it is set for has come. It
// is guarded by the lock of its owner and calls the function without it. A
// call that had begun when the alarm was set again or stopped still happens.
type alarm struct {
	base *timebase
	ring func()
	// real is for the real clock, fake with quit for an injected one.
	real *time.Timer
	fake clock.Timer
	quit chan struct{}
}

// set sets the alarm for a time of its base.
func (a *alarm) set(due int64) {
	switch {
	case a.base.injected != nil:
		a.stop()
		// Some clocks have no AfterFunc, and the fake one calls it under
		// its own lock; a timer's channel works with each of them. The
		// goroutine lives as long as the alarm is set.
		timer := a.newTimer(due)
		if a.base.until(due) <= 0 {
			// It was stepped past that time meanwhile, and its timers ring when
			// it is stepped again at the earliest.
			timer.Stop()
			go a.ring()
			return
		}
		quit := make(chan struct{})
		a.fake, a.quit = timer, quit
		go func() {
			select {
			case <-timer.C():
				a.ring()
			case <-quit:
			}
		}()
	case a.real == nil:
		a.real = time.AfterFunc(a.base.until(due), a.ring)
	default:
		a.real.Reset(a.base.until(due))
	}
}

// newTimer makes a timer of the injected clock. A fake clock that was stepped
// in between would count the delay from its new time, too late: then again.
// The tries are limited for clocks that never stand still.
func (a *alarm) newTimer(due int64) clock.Timer {
	for try := 0; ; try++ {
		now := a.base.now()
		timer := a.base.injected.NewTimer(time.Duration(due - now))
		if try == 2 || a.base.now() == now {
			return timer
		}
		timer.Stop()
	}
}

func (a *alarm) stop() {
	if a.real != nil {
		a.real.Stop()
	}
	if a.fake != nil {
		a.fake.Stop()
		close(a.quit)
		a.fake, a.quit = nil, nil
	}
}
