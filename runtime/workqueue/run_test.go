package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// queues are the kinds of queues that Run supports: ours, ours behind a wrapper, and client-go's.
var queues = map[string]func() workqueue.TypedRateLimitingInterface[string]{
	"ours": func() workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueue(limiter())
	},
	"wrapped": func() workqueue.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter(),
			workqueue.TypedRateLimitingQueueConfig[string]{
				DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(
					workqueue.TypedDelayingQueueConfig[string]{
						Queue: workqueue.NewTyped[string](),
					}),
			})
	},
	"client-go": func() workqueue.TypedRateLimitingInterface[string] {
		return upstream.NewTypedRateLimitingQueue(limiter())
	},
}

func limiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute)
}

// eachQueue runs a test in a bubble for each kind of queue.
func eachQueue(t *testing.T, test func(t *testing.T, q workqueue.TypedRateLimitingInterface[string])) {
	for name, make := range queues {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := make()
				defer q.ShutDown()
				test(t, q)
			})
		})
	}
}

// TestRunWithoutWorkers runs with 0 workers and with negative numbers: nothing is processed, and Run waits
// for its context.
func TestRunWithoutWorkers(t *testing.T) {
	for _, workers := range []int{0, -3} {
		eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			q.Add("a")
			time.AfterFunc(time.Second, q.ShutDown)
			start := time.Now()
			err := workqueue.Run(ctx, q, workers, func(context.Context, string) (workqueue.Result, error) {
				t.Error("an item is processed")
				return workqueue.Result{}, nil
			})
			if took := time.Since(start); err != nil || took != time.Minute || q.Len() != 1 {
				t.Errorf("%d workers: %v after %v, %d items are ready", workers, err, took, q.Len())
			}
		})
	}
}

func TestRunResults(t *testing.T) {
	eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		runs := map[string][]time.Duration{}
		var reported []string
		reconcile := func(_ context.Context, item string) (workqueue.Result, error) {
			runs[item] = append(runs[item], time.Since(start))
			n := len(runs[item])
			switch {
			case item == "again" && n < 3:
				return workqueue.Result{RequeueAfter: time.Minute}, nil
			case item == "fails" && n < 4:
				return workqueue.Result{RequeueAfter: time.Hour}, fmt.Errorf("try %d", n)
			case item == "hopeless":
				return workqueue.Result{}, fmt.Errorf("wrapped: %w", workqueue.Terminal(errors.New("no")))
			}
			return workqueue.Result{}, nil
		}
		for _, item := range []string{"fine", "again", "fails", "hopeless"} {
			q.Add(item)
		}
		var run sync.WaitGroup
		run.Go(func() {
			err := workqueue.Run(ctx, q, 1, reconcile,
				workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
					reported = append(reported, fmt.Sprint(item, ": ", err))
				}))
			if err != nil {
				t.Error(err)
			}
		})
		bubble.Advance(time.Hour)
		for item, want := range map[string][]time.Duration{
			"fine":     {0},
			"again":    {0, time.Minute, 2 * time.Minute},
			"fails":    {0, time.Second, 3 * time.Second, 7 * time.Second},
			"hopeless": {0},
		} {
			if !slices.Equal(runs[item], want) {
				t.Errorf("%s runs at %v, want %v", item, runs[item], want)
			}
			if n := q.NumRequeues(item); n != 0 {
				t.Errorf("%s has %d failures left", item, n)
			}
		}
		if want := []string{
			"fails: try 1", "hopeless: wrapped: no", "fails: try 2", "fails: try 3",
		}; !slices.Equal(reported, want) {
			t.Errorf("reported %q", reported)
		}
		cancel()
		run.Wait()
	})
	if workqueue.Terminal(nil) != nil {
		t.Error("no error is a terminal error")
	}
}

func TestRunPanics(t *testing.T) {
	handlers := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, true }()
	var logged atomic.Int32
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { logged.Add(1) }}
	utilruntime.ReallyCrash = false
	for _, contain := range []bool{false, true} {
		eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
			logged.Store(0)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var errs []error
			opts := []workqueue.RunOption{
				workqueue.WithErrorHandler(func(_ context.Context, _ any, err error) {
					errs = append(errs, err)
				})}
			if contain {
				opts = append(opts, workqueue.WithContainedPanics())
			}
			q.Add("a")
			tries := 0
			_ = workqueue.Run(ctx, q, 1, func(context.Context, string) (workqueue.Result, error) {
				if tries++; tries < 3 {
					panic("boom")
				}
				cancel()
				return workqueue.Result{}, nil
			}, opts...)
			if tries != 3 || len(errs) != 2 {
				t.Fatalf("%d tries, %v", tries, errs)
			}
			var p *workqueue.PanicError
			if contain != errors.As(errs[0], &p) ||
				contain && (p.Value != "boom" || !strings.Contains(string(p.Stack), "TestRunPanics")) {
				t.Errorf("contain %v: %v", contain, errs[0])
			}
			if n := logged.Load(); contain != (n == 0) {
				t.Errorf("contain %v: utilruntime saw %d panics", contain, n)
			}
		})
	}
}

func TestPool(t *testing.T) {
	eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
		ctx, cancel := context.WithCancel(t.Context())
		var pool workqueue.Pool
		var most atomic.Int32
		var run sync.WaitGroup
		pool.Resize(7) // does nothing before Run
		run.Go(func() {
			_ = workqueue.Run(ctx, q, 2, func(context.Context, string) (workqueue.Result, error) {
				most.Store(max(most.Load(), int32(pool.Busy())))
				bubble.Pass(time.Second)
				return workqueue.Result{}, nil
			}, workqueue.WithPool(&pool))
		})
		synctest.Wait()
		for _, want := range []int{2, 5, 1, 0, 3} {
			pool.Resize(want)
			most.Store(0)
			for i := range 20 {
				q.Add(fmt.Sprint(want, i))
			}
			bubble.Advance(time.Hour)
			// Nothing interrupts the Get of client-go's queue: workers stop after their next item.
			if got := pool.Size(); got != want {
				t.Errorf("%d workers, want %d", got, want)
			}
			if n := int(most.Load()); n > want && want != 0 || want > 0 && n == 0 {
				if workqueue.AsQueue[string](q) != nil {
					t.Errorf("%d were busy with %d workers", n, want)
				}
			}
			if left := q.Len(); want > 0 && left > 0 {
				t.Errorf("%d items left with %d workers", left, want)
			}
		}
		cancel()
		run.Wait()
		if pool.Size() != 0 || pool.Busy() != 0 {
			t.Errorf("%d workers, %d busy after the end", pool.Size(), pool.Busy())
		}
	})
}

// TestRunSurvivesGoexit checks that a reconciler or an error handler that ends its goroutine costs no worker:
// each item is tried again and reported, also while the queue is drained, and Run returns.
func TestRunSurvivesGoexit(t *testing.T) {
	for name, opts := range map[string][]workqueue.RunOption{
		"plain": nil, "contained": {workqueue.WithContainedPanics()},
		"drain": {workqueue.WithDrain()}, "grace": {workqueue.WithGrace(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
				const workers = 2
				var pool workqueue.Pool
				var left, tries, reports atomic.Int32
				items := []string{"a", "b", "c", "d"}
				left.Store(int32(len(items)))
				ctx, cancel := context.WithCancel(t.Context())
				for _, item := range items {
					q.Add(item)
				}
				opts := append(opts, workqueue.WithPool(&pool), workqueue.WithErrorHandler(
					func(_ context.Context, item any, err error) {
						if !strings.Contains(err.Error(), "Goexit") {
							t.Errorf("%v: %v", item, err)
						}
						if reports.Add(1); item == "b" {
							runtime.Goexit()
						}
					}))
				err := workqueue.Run(ctx, q, workers, func(_ context.Context, item string) (workqueue.Result, error) {
					bubble.Pass(time.Second)
					if n := pool.Size(); n != workers && !q.ShuttingDown() {
						t.Errorf("%d workers are left", n)
					}
					tries.Add(1)
					if name == "drain" {
						cancel() // All items of the queue are still processed, each once.
						left.Add(-1)
						runtime.Goexit()
					}
					if q.NumRequeues(item) < 3 {
						runtime.Goexit()
					}
					if left.Add(-1) == 0 {
						cancel()
					}
					return workqueue.Result{}, nil
				}, opts...)
				if n := left.Load(); err != nil || n != 0 {
					t.Errorf("Run: %v, %d items are left", err, n)
				}
				want := int32(3 * len(items))
				if name == "drain" {
					want = int32(len(items))
				}
				if reports.Load() != want || tries.Load() < want {
					t.Errorf("%d reports of %d tries, want %d reports", reports.Load(), tries.Load(), want)
				}
				if pool.Size() != 0 || pool.Busy() != 0 {
					t.Errorf("%d workers, %d busy after the end", pool.Size(), pool.Busy())
				}
			})
		})
	}
}

// TestGoexitIsLogged checks that the default error handler reports a reconciler that ends its worker.
func TestGoexitIsLogged(t *testing.T) {
	var reported []error
	defer func(handlers []utilruntime.ErrorHandler) {
		utilruntime.ErrorHandlers = handlers
	}(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, _ string, _ ...any) { reported = append(reported, err) },
	}
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		q.Add("a")
		err := workqueue.Run[string](t.Context(), q, 1, func(context.Context, string) (workqueue.Result, error) {
			if q.NumRequeues("a") == 0 {
				runtime.Goexit()
			}
			q.ShutDown()
			return workqueue.Result{}, nil
		})
		if err != nil || len(reported) != 1 || !strings.Contains(fmt.Sprint(reported), "Goexit") {
			t.Errorf("Run: %v, reported %v", err, reported)
		}
	})
}

// TestPanicErrorUnwraps checks that Unwrap returns the value of the panic.
func TestPanicErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	if !errors.Is(&workqueue.PanicError{Value: cause}, cause) {
		t.Error("the cause is lost")
	}
	if err := errors.Unwrap(&workqueue.PanicError{Value: "text"}); err != nil {
		t.Errorf("a text unwraps to %v", err)
	}
}
