package queue

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// timebase counts nanoseconds since it was made. It is guarded by the lock of its owner.
type timebase struct {
	// injected is nil for the real clock.
	injected clock.Clock
	start    time.Time
	// last is the last time read from the real clock.
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

// atLeast returns a time that has certainly passed, without reading the clock. The real clock is
// monotonic, an injected one may go back.
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

// alarm calls ring once, at the time that it is set for. It is guarded by the lock of its owner, and
// calls ring without it. Setting or stopping it doesn't stop a call that has begun.
type alarm struct {
	base *timebase
	ring func()
	// real is used with the real clock, fake with an injected one. quit, if not nil, ends the goroutine that
	// waits for fake.
	real *time.Timer
	fake clock.Timer
	quit chan struct{}
	// ending is set when the owner is shut down. The alarm then uses AfterFunc, if an injected clock has it,
	// rather than a goroutine.
	ending bool
}

// set sets the alarm to a time of its base.
func (a *alarm) set(due int64) {
	switch {
	case a.base.injected != nil:
		a.stop()
		timer := a.newTimer(due)
		if a.base.until(due) <= 0 {
			// The clock was stepped past that time before the timer was set. A fake timer wouldn't
			// ring before the next step.
			timer.Stop()
			go a.ring()
			return
		}
		a.fake = timer
		if a.afterFunc() == nil {
			a.await(timer)
		}
	case a.real == nil:
		a.real = time.AfterFunc(a.base.until(due), a.ring)
	default:
		a.real.Reset(a.base.until(due))
	}
}

// await waits for a timer on a goroutine, which lives as long as the alarm is set.
func (a *alarm) await(timer clock.Timer) {
	quit := make(chan struct{})
	a.quit = quit
	go func() {
		select {
		case <-timer.C():
			a.ring()
		case <-quit:
		}
	}()
}

// afterFunc returns the injected clock's AfterFunc, or nil if a goroutine waits for its timers.
func (a *alarm) afterFunc() func(time.Duration, func()) clock.Timer {
	c, ok := a.base.injected.(interface {
		AfterFunc(time.Duration, func()) clock.Timer
	})
	if !ok || !a.ending {
		return nil
	}
	return c.AfterFunc
}

// newTimer makes a timer of the injected clock. If a fake clock is stepped between now and NewTimer,
// the timer counts from the new time and rings too late: then newTimer tries again. The number of tries
// is limited because other clocks never stand still.
func (a *alarm) newTimer(due int64) clock.Timer {
	newTimer := a.base.injected.NewTimer
	if afterFunc := a.afterFunc(); afterFunc != nil {
		// The fake clock calls the function with its own lock held.
		newTimer = func(d time.Duration) clock.Timer { return afterFunc(d, func() { go a.ring() }) }
	}
	for try := 0; ; try++ {
		now := a.base.now()
		timer := newTimer(time.Duration(due - now))
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
		a.fake = nil
	}
	if a.quit != nil {
		close(a.quit)
		a.quit = nil
	}
}
