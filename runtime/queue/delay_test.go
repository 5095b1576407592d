package queue_test

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestADelayedCopyStaysUnlessMerged adds the item at once before or after it is delayed, while it is ready or
// in process.
func TestADelayedCopyStaysUnlessMerged(t *testing.T) {
	for _, merge := range []bool{false, true} {
		for _, delayedFirst := range []bool{false, true} {
			for _, inProcess := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					q := queue.New(queue.Config[string]{MergeDelayed: merge})
					if inProcess {
						q.Add("a")
						q.Get()
					}
					if delayedFirst {
						q.AddAfter("a", time.Second)
						q.Add("a")
					} else {
						q.Add("a")
						q.AddAfter("a", time.Second)
					}
					q.Done("a")
					runs := len(drainTo(q))
					bubble.Advance(time.Second)
					runs += len(drainTo(q))
					if want := map[bool]int{false: 2, true: 1}[merge]; runs != want {
						t.Errorf("merge %v, delayed first %v, in process %v: %d runs, want %d",
							merge, delayedFirst, inProcess, runs, want)
					}
				})
			}
		}
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		if q.Cancel("a") {
			t.Error("cancelled what isn't there")
		}
		q.Add("a")
		if q.Cancel("a") {
			t.Error("cancelled what isn't delayed")
		}
		q.AddAfter("a", time.Second)
		q.AddAfter("b", time.Second)
		if !q.Cancel("a") || q.Cancel("a") {
			t.Error("not cancelled once")
		}
		bubble.Pass(time.Second / 2)
		q.AddAfter("b", math.MaxInt64)
		q.AddAfter("never", math.MaxInt64)
		bubble.Advance(time.Second / 2)
		if got, want := drainTo(q), []string{"a", "b"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		q.ShutDown()
	})
}

// steppingClock steps itself when the queue requests a timer.
type steppingClock struct {
	*clocktesting.FakeClock
	step time.Duration
}

func (c *steppingClock) NewTimer(d time.Duration) clock.Timer {
	c.Step(c.step)
	c.step = 0
	return c.FakeClock.NewTimer(d)
}

// TestSteppedInBetween steps the clock after the queue has read it and before it sets its timer: the
// item is on time nevertheless.
func TestSteppedInBetween(t *testing.T) {
	for _, step := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, time.Second} {
		clock := &steppingClock{clocktesting.NewFakeClock(time.Now()), step}
		q := queue.New(queue.Config[string]{Clock: clock})
		q.AddAfter("a", 50*time.Millisecond)
		if rest := 50*time.Millisecond - step; rest > 0 {
			clock.Step(rest)
		}
		if item, _ := q.Get(); item != "a" {
			t.Errorf("Get is %q", item)
		}
	}
}

// TestClockThatGoesBack sets the clock back, so that an item is due at the time of the queue's creation.
func TestClockThatGoesBack(t *testing.T) {
	start := time.Now()
	clock := clocktesting.NewFakeClock(start)
	q := queue.New(queue.Config[string]{Clock: clock})
	clock.SetTime(start.Add(-5 * time.Second))
	q.AddAfter("a", 5*time.Second)
	clock.Step(time.Minute)
	if item, _ := q.Get(); item != "a" {
		t.Errorf("Get is %q", item)
	}
}

// TestInjectedClock steps a fake clock: all items are on time, and the queue sets no timer while nothing
// is delayed.
func TestInjectedClock(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	q := queue.New(queue.Config[string]{Clock: clock})
	if clock.HasWaiters() {
		t.Error("an empty queue waits for the clock")
	}
	q.AddAfter("a", 50*time.Millisecond)
	q.AddAfter("b", 20*time.Millisecond)
	if n := clock.Waiters(); n != 1 {
		t.Errorf("%d wait for the clock", n)
	}
	clock.Step(20*time.Millisecond - 1)
	if n := q.Len(); n != 0 {
		t.Errorf("%d are early", n)
	}
	clock.Step(1)
	for _, want := range []string{"b", "a"} {
		if item, _ := q.Get(); item != want {
			t.Errorf("Get is %q, want %q", item, want)
		}
		// The queue sets its next timer in a goroutine.
		for want == "b" && !clock.HasWaiters() {
			runtime.Gosched()
		}
		clock.Step(30 * time.Millisecond)
	}
	q.AddAfter("c", time.Hour)
	q.Cancel("c")
	if clock.HasWaiters() {
		t.Error("a cancelled item waits for the clock")
	}
	q.AddAfter("c", time.Hour)
	q.ShutDown()
	if clock.HasWaiters() {
		t.Error("a queue that is shut down waits for the clock")
	}
}

// TestSteppedWhileAdding steps the fake clock continuously while items are added: no item is missed.
func TestSteppedWhileAdding(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	q := queue.New(queue.Config[int]{Clock: clock})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				clock.Step(time.Millisecond)
				runtime.Gosched()
			}
		}
	})
	for item := range 2000 {
		q.AddAfter(item, time.Duration(item%7+1)*time.Millisecond)
	}
	for range 2000 {
		item, _ := q.Get()
		q.Done(item)
	}
	close(stop)
	wg.Wait()
	q.ShutDown()
}

// TestABurstLetsOthersIn delivers many items at once: other callers get the lock meanwhile.
func TestABurstLetsOthersIn(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	q := queue.New(queue.Config[int]{Clock: clock})
	const n = 200_000
	for item := range n {
		q.AddAfter(item, time.Hour)
	}
	clock.Step(time.Hour)
	between := false
	for length := 0; length < n; {
		length = q.Len()
		between = between || length > 0 && length < n
	}
	if !between {
		t.Error("the burst was one piece")
	}
	q.ShutDown()
}
