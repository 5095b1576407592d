package tour

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A work queue holds keys, not objects: the worker reads the newest state when it takes the key, so events of
// one object merge. A key that is added ten times while it waits is returned once, and no two workers have
// the same key at the same time. controller_test.go uses a queue in a controller.
func Example_workQueue() {
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

	queue.ShutDown() // Get still returns the waiting items, then shutdown
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

// Without Done, a worker keeps its key for ever: others may add the key, but no worker gets it again, and no
// error is reported.
func TestQueueWithoutDone(t *testing.T) {
	queue := workqueue.NewTyped[string]()
	defer queue.ShutDown()
	queue.Add("town/ann")
	queue.Get()
	queue.Add("town/ann")
	if queue.Len() != 0 {
		t.Error("a key that a worker has is available to others")
	}
}

// A delaying queue adds an item later, for changes that cause no event, such as an expiry. In a bubble of
// testing/synctest, time stands still until all goroutines wait, and then jumps to the next timer, so the
// test takes no time.
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

// A rate limiting queue takes the delay from a limiter. The more often an item failed, the longer the delay.
// Without Forget after a success, old failures still count, and the limiter keeps every item that ever
// failed.
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
