//lint:file-ignore SA1019 the deprecated names are part of the API

package workqueue_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// Queues of both packages implement the interfaces of both.
var (
	_ upstream.RateLimitingInterface = workqueue.NewRateLimitingQueue(
		upstream.DefaultControllerRateLimiter())
	_ upstream.TypedRateLimitingInterface[string] = queue.New(queue.Config[string]{})
	_ workqueue.Interface                         = upstream.New()
	_ upstream.Interface                          = workqueue.New()
)

// TestEachConstructor puts an item through a queue of each constructor.
func TestEachConstructor(t *testing.T) {
	limiter := workqueue.DefaultItemBasedRateLimiter()
	typed := workqueue.DefaultTypedItemBasedRateLimiter[any]()
	real := clock.RealClock{}
	for name, make := range map[string]func() workqueue.Interface{
		"New":      func() workqueue.Interface { return workqueue.New() },
		"NewNamed": func() workqueue.Interface { return workqueue.NewNamed("n") },
		"NewWithConfig": func() workqueue.Interface {
			return workqueue.NewWithConfig(workqueue.QueueConfig{Clock: real})
		},
		"NewTyped": func() workqueue.Interface { return workqueue.NewTyped[any]() },
		"with DefaultQueue": func() workqueue.Interface {
			return workqueue.NewWithConfig(workqueue.QueueConfig{Queue: workqueue.DefaultQueue[any]()})
		},
		"NewDelayingQueue":      func() workqueue.Interface { return workqueue.NewDelayingQueue() },
		"NewTypedDelayingQueue": func() workqueue.Interface { return workqueue.NewTypedDelayingQueue[any]() },
		"TypedNewDelayingQueue": func() workqueue.Interface { return workqueue.TypedNewDelayingQueue[any]() },
		"NewDelayingQueueWithConfig": func() workqueue.Interface {
			return workqueue.NewDelayingQueueWithConfig(workqueue.DelayingQueueConfig{})
		},
		"NewDelayingQueueWithCustomQueue": func() workqueue.Interface {
			return workqueue.NewDelayingQueueWithCustomQueue(upstream.New(), "n")
		},
		"NewNamedDelayingQueue": func() workqueue.Interface {
			return workqueue.NewNamedDelayingQueue("n")
		},
		"NewDelayingQueueWithCustomClock": func() workqueue.Interface {
			return workqueue.NewDelayingQueueWithCustomClock(real, "n")
		},
		"NewRateLimitingQueue": func() workqueue.Interface {
			return workqueue.NewRateLimitingQueue(limiter)
		},
		"NewTypedRateLimitingQueue": func() workqueue.Interface {
			return workqueue.NewTypedRateLimitingQueue(typed)
		},
		"NewRateLimitingQueueWithConfig": func() workqueue.Interface {
			return workqueue.NewRateLimitingQueueWithConfig(limiter, workqueue.RateLimitingQueueConfig{})
		},
		"NewNamedRateLimitingQueue": func() workqueue.Interface {
			return workqueue.NewNamedRateLimitingQueue(limiter, "n")
		},
		"NewRateLimitingQueueWithDelayingInterface": func() workqueue.Interface {
			return workqueue.NewRateLimitingQueueWithDelayingInterface(workqueue.NewDelayingQueue(), limiter)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := make()
				want := 1
				q.Add(1)
				if d, ok := q.(workqueue.DelayingInterface); ok {
					d.AddAfter(2, time.Second)
					want++
				}
				if r, ok := q.(workqueue.RateLimitingInterface); ok {
					r.AddRateLimited(3)
					want++
				}
				for range want {
					item, _ := q.Get()
					q.Done(item)
				}
				q.ShutDownWithDrain()
				q.ShutDown()
				if item, shutdown := q.Get(); !shutdown {
					t.Errorf("%v is left", item)
				}
			})
		})
	}
	for name, l := range map[string]workqueue.RateLimiter{
		"DefaultControllerRateLimiter": workqueue.DefaultControllerRateLimiter(),
		"NewItemExponentialFailureRateLimiter": workqueue.NewItemExponentialFailureRateLimiter(time.Second,
			time.Minute),
		"NewItemFastSlowRateLimiter": workqueue.NewItemFastSlowRateLimiter(time.Second,
			time.Minute, 1),
		"NewMaxOfRateLimiter": workqueue.NewMaxOfRateLimiter(limiter, typed),
		"NewWithMaxWaitRateLimiter": workqueue.NewWithMaxWaitRateLimiter(
			limiter, time.Microsecond),
	} {
		l.When(1)
		if first, second := l.When(1), l.When(1); first <= 0 || second < first || l.NumRequeues(1) < 3 {
			t.Errorf("%s: %v, %v after %d failures", name, first, second, l.NumRequeues(1))
		}
		if l.Forget(1); l.NumRequeues(1) != 0 {
			t.Errorf("%s doesn't forget", name)
		}
	}
}

// TestFakeClock steps a clock as tests of controllers do.
func TestFakeClock(t *testing.T) {
	fake := clocktesting.NewFakeClock(time.Now())
	q := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: fake})
	defer q.ShutDown()
	q.AddRateLimited("a")
	if fake.Step(time.Second - 1); q.Len() != 0 {
		t.Error("early")
	}
	fake.Step(1)
	if item, _ := q.Get(); item != "a" {
		t.Errorf("Get is %q", item)
	}
}

// TestFunctions calls the functions that client-go doesn't have, on queues of each kind.
func TestFunctions(t *testing.T) {
	eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q.AddAfter("a", time.Second)
		cancelled := workqueue.Cancel(q, "a")
		if workqueue.AsQueue[string](q) == nil {
			_, err1 := workqueue.GetContext[string](ctx, q)
			_, err2 := workqueue.GetBatch[string](ctx, q, 1)
			for _, err := range []error{err1, err2, workqueue.Drain[string](ctx, q)} {
				if !errors.Is(err, errors.ErrUnsupported) || cancelled {
					t.Errorf("client-go's queue can do it: %v", err)
				}
			}
			return
		}
		if !cancelled || workqueue.Cancel(q, "a") {
			t.Error("not cancelled once")
		}
		q.Add("b")
		item, err := workqueue.GetContext[string](ctx, q)
		if q.Done(item); item != "b" || err != nil {
			t.Errorf("GetContext is %q, %v", item, err)
		}
		q.Add("c")
		batch, err := workqueue.GetBatch[string](ctx, q, 2)
		if q.Done("c"); len(batch) != 1 || err != nil {
			t.Errorf("GetBatch is %q, %v", batch, err)
		}
		q.AddAfter("d", time.Second)
		if err := workqueue.Drain[string](ctx, q); err != nil || !q.ShuttingDown() {
			t.Errorf("Drain: %v", err)
		}
		if _, err := workqueue.GetContext[string](ctx, q); !errors.Is(err, queue.ErrShutDown) {
			t.Errorf("GetContext after Drain: %v", err)
		}
	})
}

// first is the transcript of the process' first provider: SetProvider has an effect once, even if the
// test runs several times.
var first = newTranscript()

// TestSetProvider checks that only the first SetProvider has an effect, and only on queues with a name.
func TestSetProvider(t *testing.T) {
	second := newTranscript()
	workqueue.NewNamed("early").Add(1)
	workqueue.SetProvider(spyProvider{tr: first})
	workqueue.SetProvider(spyProvider{tr: second})
	first.lines = nil
	workqueue.NewNamed("n").Add(1)
	workqueue.New().Add(1)
	q := queue.New(queue.Config[string]{Metrics: workqueue.NewMetrics(nil, "own")})
	q.AddAfter("a", 0)
	if len(second.lines) != 0 || len(first.lines) != 6+2+7+3 {
		t.Errorf("%q, then %q", first.lines, second.lines)
	}
	if workqueue.NewMetrics(nil, "") != nil {
		t.Error("a queue without a name has metrics")
	}
}
