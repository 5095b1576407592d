package queue_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// An item is in the queue once, however often it is added.
func Example() {
	q := queue.New(queue.Config[string]{})
	q.Add("default/web")
	q.Add("default/db")
	q.Add("default/web")
	q.ShutDown()
	for {
		item, shutdown := q.Get()
		if shutdown {
			return
		}
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// default/web
	// default/db
}

// An item that is added while it is in process runs once more, after Done.
func ExampleQueue_Done() {
	q := queue.New(queue.Config[string]{})
	q.Add("default/web")
	item, _ := q.Get()
	q.Add("default/web")
	fmt.Println("ready while in process:", q.Len())
	q.Done(item)
	fmt.Println("ready after Done:", q.Len())
	// Output:
	// ready while in process: 0
	// ready after Done: 1
}

// Of several delays of an item the one that ends first counts.
func ExampleQueue_AddAfter() {
	q := queue.New(queue.Config[string]{})
	q.AddAfter("later", 20*time.Millisecond)
	q.AddAfter("soon", time.Hour)
	q.AddAfter("soon", time.Millisecond)
	for range 2 {
		item, _ := q.Get()
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// soon
	// later
}

// Cancel removes a delayed copy.
func ExampleQueue_Cancel() {
	q := queue.New(queue.Config[string]{})
	defer q.ShutDown()
	q.AddAfter("default/web", time.Hour)
	fmt.Println(q.Cancel("default/web"), q.Cancel("default/web"))
	// Output: true false
}

// With MergeDelayed an item that is added before its delay is over runs once.
func ExampleConfig_mergeDelayed() {
	q := queue.New(queue.Config[string]{MergeDelayed: true})
	q.AddAfter("default/web", time.Hour)
	q.Add("default/web")
	fmt.Println("ready:", q.Len())
	fmt.Println("still delayed:", q.Cancel("default/web"))
	// Output:
	// ready: 1
	// still delayed: false
}

// Items of higher priority come first, and waiting counts as well.
func ExampleConfig_priority() {
	q := queue.New(queue.Config[string]{
		Priority: func(item string) int {
			if strings.HasPrefix(item, "resync ") {
				return -100
			}
			return 0
		},
		// After 100 ms an item of the resync goes before new ones.
		Ageing: time.Millisecond,
	})
	urgent := 10
	q.Add("resync default/db")
	q.Add("default/web")
	q.AddWith("default/api", queue.AddOptions{Priority: &urgent})
	for q.Len() > 0 {
		item, _ := q.Get()
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// default/api
	// default/web
	// resync default/db
}

// Flows take turns, however many items each of them has.
func ExampleConfig_flow() {
	namespace := func(item string) string { return item[:strings.Index(item, "/")] }
	q := queue.New(queue.Config[string]{Flow: namespace})
	for i := range 3 {
		q.Add(fmt.Sprintf("greedy/%d", i))
	}
	q.Add("modest/0")
	for q.Len() > 0 {
		item, _ := q.Get()
		fmt.Println(item)
		q.Done(item)
	}
	// Output:
	// greedy/0
	// modest/0
	// greedy/1
	// greedy/2
}

// Each failure doubles the delay of an item, until Forget.
func ExampleQueue_AddRateLimited() {
	q := queue.New(queue.Config[string]{
		Limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second),
	})
	for range 3 {
		q.AddRateLimited("default/web")
		item, _ := q.Get()
		q.Done(item)
	}
	fmt.Println("failures:", q.NumRequeues("default/web"))
	q.Forget("default/web")
	fmt.Println("failures:", q.NumRequeues("default/web"))
	// Output:
	// failures: 3
	// failures: 0
}

// GetContext is Get with a context.
func ExampleQueue_GetContext() {
	q := queue.New(queue.Config[string]{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := q.GetContext(ctx)
	fmt.Println(err)
	// Output: context deadline exceeded
}

// GetBatch takes up to n ready items.
func ExampleQueue_GetBatch() {
	q := queue.New(queue.Config[int]{})
	for item := range 5 {
		q.Add(item)
	}
	for range 2 {
		items, _ := q.GetBatch(context.Background(), 3)
		fmt.Println(items)
		for _, item := range items {
			q.Done(item)
		}
	}
	// Output:
	// [0 1 2]
	// [3 4]
}

// Drain waits until the workers are done with all ready items.
func ExampleQueue_Drain() {
	q := queue.New(queue.Config[int]{})
	for item := range 3 {
		q.Add(item)
	}
	go func() {
		for {
			item, shutdown := q.Get()
			if shutdown {
				return
			}
			fmt.Println("done with", item)
			q.Done(item)
		}
	}()
	fmt.Println(q.Drain(context.Background()))
	// Output:
	// done with 0
	// done with 1
	// done with 2
	// <nil>
}

// newest is an order that is last in, first out.
type newest struct{ items []string }

func (o *newest) Touch(string)     {}
func (o *newest) Push(item string) { o.items = append(o.items, item) }
func (o *newest) Len() int         { return len(o.items) }
func (o *newest) Pop() string {
	last := len(o.items) - 1
	item := o.items[last]
	o.items = o.items[:last]
	return item
}

// The order of ready items can be the caller's.
func ExampleConfig_order() {
	q := queue.New(queue.Config[string]{Order: new(newest)})
	q.Add("first")
	q.Add("second")
	item, _ := q.Get()
	fmt.Println(item)
	// Output: second
}
