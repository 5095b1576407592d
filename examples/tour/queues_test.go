package tour

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A work queue holds keys, not objects: an item that is added ten times while it waits is processed once,
// and no item is processed by two workers at the same time.
func Example_queue() {
	queue := workqueue.NewTyped[string]()
	queue.Add("town/ann")
	queue.Add("town/ben")
	queue.Add("town/ann") // waits already
	fmt.Println(queue.Len(), "items")

	item, _ := queue.Get()
	queue.Add(item) // changed while it is processed: waits until Done
	fmt.Println("got", item, "- waiting:", queue.Len())
	queue.Done(item)
	fmt.Println("done", item, "- waiting:", queue.Len())

	queue.ShutDown() // what waits is still handed out, then Get says shutdown
	for {
		item, shutdown := queue.Get()
		if shutdown {
			break
		}
		fmt.Println("got", item)
		queue.Done(item)
	}
	// Output:
	// 2 items
	// got town/ann - waiting: 1
	// done town/ann - waiting: 2
	// got town/ben
	// got town/ann
}

// A delaying queue adds an item later: to look again at what has no event of its own, an expiry for
// example. In a bubble of testing/synctest the clock stands still until all goroutines wait, so the test
// takes no time.
func TestDelayingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedDelayingQueue[string]()
		defer queue.ShutDown()
		start := time.Now()
		queue.AddAfter("town/ann", time.Hour)
		queue.AddAfter("town/ann", time.Minute) // the earlier time counts
		item, _ := queue.Get()
		if got := time.Since(start); item != "town/ann" || got != time.Minute {
			t.Errorf("got %s after %s, want town/ann after a minute", item, got)
		}
		queue.Done(item)
	})
}

// A rate limiting queue chooses the delay: the longer, the more often an item failed.
func TestRateLimitingQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute))
		defer queue.ShutDown()
		for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			start := time.Now()
			queue.AddRateLimited("town/ann") // after a failure
			item, _ := queue.Get()
			if got := time.Since(start); got != want {
				t.Errorf("got %s after %s, want after %s", item, got, want)
			}
			queue.Done(item)
		}
		queue.Forget("town/ann") // after a success: the next failure waits a second again
		if got := queue.NumRequeues("town/ann"); got != 0 {
			t.Errorf("%d failures are remembered, want none", got)
		}
	})
}
