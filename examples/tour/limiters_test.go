package tour

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A limiter determines how long an item waits before it is processed again. A controller calls AddRateLimited
// of a queue, which uses the limiter, after a failure, and Forget after a success. Without Forget, the old
// failures of the item still count at the next one, and the limiter keeps the item's entry for ever.
func TestLimiters(t *testing.T) {
	// In this bubble the clock stands still, so the bucket's answers are exact.
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		// The delay doubles with every failure of an item, up to a maximum.
		exponential := func() workqueue.TypedRateLimiter[string] {
			return workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*ms, time.Second)
		}
		show := func(limiter workqueue.TypedRateLimiter[string], want string) {
			t.Helper()
			var delays []time.Duration
			for range 5 {
				delays = append(delays, limiter.When("town/ann"))
			}
			if got := fmt.Sprint(delays); got != want {
				t.Errorf("delays %s, want %s", got, want)
			}
		}
		show(exponential(), "[100ms 200ms 400ms 800ms 1s]")

		// Two short delays, then long ones.
		show(workqueue.NewTypedItemFastSlowRateLimiter[string](50*ms, 5*time.Second, 2), "[50ms 50ms 5s 5s 5s]")

		// One token bucket for all items: bursts of two, then one in ten seconds.
		show(&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Every(10*time.Second), 2)},
			"[0s 0s 10s 20s 30s]")

		// The longest delay of several limiters.
		show(workqueue.NewTypedMaxOfRateLimiter(exponential(),
			workqueue.NewTypedItemFastSlowRateLimiter[string](150*ms, 600*ms, 2)),
			"[150ms 200ms 600ms 800ms 1s]")

		// At most a quarter of a second.
		show(workqueue.NewTypedWithMaxWaitRateLimiter(exponential(), 250*ms), "[100ms 200ms 250ms 250ms 250ms]")

		// Most controllers use the longer delay of two limiters: for each item 5 ms, doubled up to 1000 s; and for
		// all items together a bucket of 10 per second, in bursts of up to 100.
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		show(limiter, "[5ms 10ms 20ms 40ms 80ms]")
		if got := limiter.NumRequeues("town/ann"); got != 5 {
			t.Errorf("%d failures are remembered, want 5", got)
		}
		limiter.Forget("town/ann")
		show(limiter, "[5ms 10ms 20ms 40ms 80ms]")
	})
}
