package tour

import (
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A limiter says how long an item waits before it is processed again. AddRateLimited of a queue asks it; a
// controller calls that after a failure, and Forget after a success.
func Example_limiters() {
	show := func(name string, limiter workqueue.TypedRateLimiter[string]) {
		fmt.Print(name, ":")
		for range 5 {
			// The bucket computes its answer from the clock, so it is rounded here.
			fmt.Print(" ", limiter.When("town/ann").Round(10*time.Millisecond))
		}
		fmt.Println()
	}
	// Doubles with every failure of an item, up to a maximum.
	exponential := func() workqueue.TypedRateLimiter[string] {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Second)
	}
	show("exponential", exponential())
	// Two quick tries, then slow ones.
	show("fast, slow", workqueue.NewTypedItemFastSlowRateLimiter[string](50*time.Millisecond, 5*time.Second, 2))
	// One token bucket for all items: bursts of two, then one in ten seconds.
	bucket := &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Every(10*time.Second), 2)}
	show("bucket", bucket)
	// The longest of several: what controllers use, exponential per item and a bucket for all.
	show("the longest", workqueue.NewTypedMaxOfRateLimiter(exponential(),
		workqueue.NewTypedItemFastSlowRateLimiter[string](200*time.Millisecond, 300*time.Millisecond, 2)))
	// Capped.
	show("capped", workqueue.NewTypedWithMaxWaitRateLimiter(exponential(), 250*time.Millisecond))

	limiter := exponential()
	limiter.When("town/ann")
	limiter.When("town/ann")
	fmt.Print("failures: ", limiter.NumRequeues("town/ann"))
	limiter.Forget("town/ann")
	fmt.Println(", forgotten:", limiter.NumRequeues("town/ann"))
	// Output:
	// exponential: 100ms 200ms 400ms 800ms 1s
	// fast, slow: 50ms 50ms 5s 5s 5s
	// bucket: 0s 0s 10s 20s 30s
	// the longest: 200ms 200ms 400ms 800ms 1s
	// capped: 100ms 200ms 250ms 250ms 250ms
	// failures: 2, forgotten: 0
}
