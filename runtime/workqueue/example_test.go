package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// Code for client-go's util/workqueue works when its import path is changed: here the loop of a worker, which
// tries a failed item again after a growing delay. Run is this loop in one call.
func Example() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	q.Add("default/web")
	for tries := 1; ; tries++ {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		fmt.Println("try", tries, "of", key, "after", q.NumRequeues(key), "failures")
		if tries < 3 {
			q.AddRateLimited(key)
		} else {
			q.Forget(key)
			q.ShutDown()
		}
		q.Done(key)
	}
	// Output:
	// try 1 of default/web after 0 failures
	// try 2 of default/web after 1 failures
	// try 3 of default/web after 2 failures
}

// Run is the loop of a controller's workers.
func ExampleRun() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer q.ShutDown()
	ctx, stop := context.WithCancel(context.Background())
	q.Add("default/web")
	tries := 0
	err := workqueue.Run(ctx, q, 1, func(_ context.Context, key string) (workqueue.Result, error) {
		tries++
		fmt.Println("try", tries, "of", key)
		switch tries {
		case 1: // tried again after a growing delay
			return workqueue.Result{}, errors.New("conflict")
		case 2: // processed again after RequeueAfter
			return workqueue.Result{RequeueAfter: time.Millisecond}, nil
		}
		stop()
		return workqueue.Result{}, nil
	}, workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
		fmt.Println(item, "failed:", err)
	}))
	fmt.Println(err)
	// Output:
	// try 1 of default/web
	// default/web failed: conflict
	// try 2 of default/web
	// try 3 of default/web
	// <nil>
}

// An item that fails with a Terminal error isn't tried again.
func ExampleTerminal() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	q.Add("default/web")
	q.ShutDown()
	_ = workqueue.Run(context.Background(), q, 1, func(context.Context, string) (workqueue.Result, error) {
		return workqueue.Result{}, workqueue.Terminal(errors.New("the spec makes no sense"))
	}, workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
		fmt.Println(item, "failed:", err)
	}))
	// Output: default/web failed: the spec makes no sense
}

// A contained panic is an error of its item, which is tried again.
func ExampleWithContainedPanics() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer q.ShutDown()
	ctx, stop := context.WithCancel(context.Background())
	q.Add("default/web")
	tries := 0
	_ = workqueue.Run(ctx, q, 1, func(context.Context, string) (workqueue.Result, error) {
		if tries++; tries == 1 {
			panic("no such pod")
		}
		stop()
		return workqueue.Result{}, nil
	}, workqueue.WithContainedPanics(),
		workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
			var panicked *workqueue.PanicError
			fmt.Println(item, errors.As(err, &panicked), err)
		}))
	fmt.Println("tries:", tries)
	// Output:
	// default/web true the reconciler panicked: no such pod
	// tries: 2
}

// With WithDrain, Run processes items that are ready when the context ends, within the time of WithGrace.
func ExampleWithDrain() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[int]())
	for item := range 3 {
		q.Add(item)
	}
	ctx, stop := context.WithCancel(context.Background())
	err := workqueue.Run(ctx, q, 1, func(ctx context.Context, item int) (workqueue.Result, error) {
		stop()
		fmt.Println(item, ctx.Err())
		return workqueue.Result{}, nil
	}, workqueue.WithDrain(), workqueue.WithGrace(time.Minute))
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
	// <nil>
}

// A Pool changes the number of workers while they work.
func ExamplePool() {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer q.ShutDown()
	ctx, stop := context.WithCancel(context.Background())
	var pool workqueue.Pool
	q.Add("default/web")
	_ = workqueue.Run(ctx, q, 1, func(context.Context, string) (workqueue.Result, error) {
		pool.Resize(10)
		fmt.Println(pool.Size(), "workers,", pool.Busy(), "busy")
		stop()
		return workqueue.Result{}, nil
	}, workqueue.WithPool(&pool))
	// Output: 10 workers, 1 busy
}

// A queue with priorities and fair flows can be used wherever client-go's interfaces
// are expected, and has the usual metrics.
func ExampleMetrics() {
	var q workqueue.TypedRateLimitingInterface[string] = queue.New(queue.Config[string]{
		Ageing:  time.Second,
		Flow:    func(key string) string { return key[:1] },
		Metrics: workqueue.NewMetrics(nil, "deployments"),
	})
	defer q.ShutDown()
	low := -1
	workqueue.AsQueue[string](q).AddWith("b/low", queue.AddOptions{Priority: &low})
	q.Add("b/normal")
	item, _ := q.Get()
	fmt.Println(item)
	// Output: b/normal
}

// The wait of a worker ends with its context.
func ExampleGetContext() {
	q := workqueue.NewTyped[string]()
	defer q.ShutDown()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := workqueue.GetContext(ctx, q)
	fmt.Println(err)
	// Output: context deadline exceeded
}

// A delaying queue can add to a queue of the caller or of client-go.
func ExampleTypedDelayingQueueConfig() {
	behind := workqueue.NewTypedWithConfig(
		workqueue.TypedQueueConfig[string]{Queue: workqueue.DefaultQueue[string]()})
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Queue: behind})
	defer q.ShutDown()
	q.AddAfter("default/web", time.Millisecond)
	item, _ := behind.Get()
	fmt.Println(item)
	// Output: default/web
}

// Cancel removes a delayed copy.
func ExampleCancel() {
	q := workqueue.NewTypedDelayingQueue[string]()
	defer q.ShutDown()
	q.AddAfter("default/web", time.Hour)
	fmt.Println(workqueue.Cancel(q, "default/web"))
	// Output: true
}
