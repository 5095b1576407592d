package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// TestTerminalIsKept checks that the line of an item that was given up has the error, though nobody has asked
// for it before.
func TestTerminalIsKept(t *testing.T) {
	q := queue.New(queue.Config[string]{})
	q.Keep()
	q.Add("bad")
	q.ShutDown()
	reconcile := func(context.Context, string) (workqueue.Result, error) {
		return workqueue.Result{}, workqueue.Terminal(errors.New("no flour"))
	}
	ignore := workqueue.WithErrorHandler(func(context.Context, any, error) {})
	if err := workqueue.Run(t.Context(), q, 1, reconcile, ignore); err != nil {
		t.Fatal(err)
	}
	if _, steps := q.Line("bad"); len(steps) == 0 || steps[0].What != "the error was: no flour" {
		t.Errorf("%v", steps)
	}
}

// TestRunStops ends the context while two of three items are in process.
func TestRunStops(t *testing.T) {
	for name, test := range map[string]struct {
		opts []workqueue.RunOption
		// obeys is set if the reconciler returns when its context ends.
		obeys   bool
		after   time.Duration
		done    int32
		overdue bool
	}{
		"at once": {nil, true, 0, 0, false},
		"waits":   {nil, false, 3 * time.Second, 2, false},
		"grace": {[]workqueue.RunOption{workqueue.WithGrace(time.Minute)}, true,
			3 * time.Second, 2, false},
		"grace over": {[]workqueue.RunOption{workqueue.WithGrace(time.Second)}, false,
			time.Second, 0, true},
		"drain": {[]workqueue.RunOption{workqueue.WithDrain()}, true, 7 * time.Second, 3, false},
		"drain, grace": {[]workqueue.RunOption{workqueue.WithDrain(), workqueue.WithGrace(time.Minute)},
			true, 7 * time.Second, 3, false},
		"drain, grace over": {
			[]workqueue.RunOption{workqueue.WithDrain(), workqueue.WithGrace(4 * time.Second)}, true,
			4 * time.Second, 2, true},
		"drain, no deadline": {[]workqueue.RunOption{workqueue.WithDrain()}, false,
			7 * time.Second, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
				ctx, cancel := context.WithCancel(t.Context())
				var done atomic.Int32
				reconcile := func(ctx context.Context, item string) (workqueue.Result, error) {
					work := time.NewTimer(4 * time.Second)
					defer work.Stop()
					if !test.obeys {
						ctx = context.Background()
					}
					select {
					case <-work.C:
						done.Add(1)
						return workqueue.Result{}, nil
					case <-ctx.Done():
						return workqueue.Result{}, fmt.Errorf("stopped: %w", ctx.Err())
					}
				}
				for _, item := range []string{"a", "b", "c"} {
					q.Add(item)
				}
				var stopped time.Time
				time.AfterFunc(time.Second, func() {
					stopped = time.Now()
					cancel()
				})
				err := workqueue.Run(ctx, q, 2, reconcile,
					append(test.opts,
						workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
							t.Errorf("reported %v: %v", item, err)
						}))...)
				if after := time.Since(stopped); after != test.after {
					t.Errorf("Run returned %v after the end, want %v", after, test.after)
				}
				if n := done.Load(); n != test.done {
					t.Errorf("%d items were processed, want %d", n, test.done)
				}
				if errors.Is(err, context.DeadlineExceeded) != test.overdue || err != nil && !test.overdue {
					t.Errorf("Run: %v", err)
				}
				// These items outlived the grace period.
				bubble.Pass(time.Minute)
				if own := workqueue.AsQueue[string](q); own != nil && name == "at once" {
					if n := q.Len(); n != 3 {
						t.Errorf("%d items are kept, want 3", n)
					}
				}
			})
		})
	}
}

func TestRunEndsWithTheQueue(t *testing.T) {
	eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
		var done atomic.Int32
		for i := range 10 {
			q.Add(fmt.Sprint(i))
		}
		time.AfterFunc(1500*time.Millisecond, q.ShutDown)
		err := workqueue.Run(t.Context(), q, 2, func(context.Context, string) (workqueue.Result, error) {
			bubble.Pass(time.Second)
			done.Add(1)
			return workqueue.Result{}, nil
		}, workqueue.WithGrace(time.Second))
		if n := done.Load(); err != nil || n != 10 {
			t.Errorf("Run: %v after %d items", err, n)
		}
	})
}

// TestRunStopsAfterTheQueue ends the context when the queue has been shut down
// already, and an item is still in process.
func TestRunStopsAfterTheQueue(t *testing.T) {
	for name, test := range map[string]struct {
		opts []workqueue.RunOption
		// after is when the reconciler's context ends and Run returns.
		after time.Duration
	}{
		"at once": {nil, 2 * time.Second},
		"grace":   {[]workqueue.RunOption{workqueue.WithGrace(time.Second)}, 3 * time.Second},
		"drain": {[]workqueue.RunOption{workqueue.WithDrain(), workqueue.WithGrace(time.Second)},
			3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, q.ShutDown)
				time.AfterFunc(2*time.Second, cancel)
				start := time.Now()
				q.Add("a")
				_ = workqueue.Run(ctx, q, 2, func(ctx context.Context, _ string) (workqueue.Result, error) {
					<-ctx.Done()
					if after := time.Since(start); after != test.after {
						t.Errorf("the reconciler's context ends after %v, want %v", after, test.after)
					}
					return workqueue.Result{}, nil
				}, test.opts...)
				if after := time.Since(start); after != test.after {
					t.Errorf("Run returned after %v, want %v", after, test.after)
				}
			})
		})
	}
}

// TestRunAgain runs a queue twice, like a process that becomes the leader twice.
func TestRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			var got []string
			q.Add("a")
			err := workqueue.Run[string](ctx, q, 1,
				func(_ context.Context, item string) (workqueue.Result, error) {
					got = append(got, item)
					cancel()
					return workqueue.Result{}, nil
				})
			if err != nil || len(got) != 1 {
				t.Errorf("%v, %q", err, got)
			}
		}
	})
}

// TestRunAgainWithWorkersLeft has a worker outlive the grace period of its run. In the next run with the
// same pool it takes no items and isn't counted.
func TestRunAgainWithWorkersLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		var pool workqueue.Pool
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		q.Add("stuck")
		err := workqueue.Run[string](ctx, q, 1,
			func(_ context.Context, item string) (workqueue.Result, error) {
				if item != "stuck" {
					t.Errorf("the first run has %q", item)
				}
				bubble.Pass(10 * time.Second)
				return workqueue.Result{}, nil
			}, workqueue.WithPool(&pool), workqueue.WithGrace(time.Second))
		if !errors.Is(err, context.DeadlineExceeded) || pool.Size() != 1 || pool.Busy() != 1 {
			t.Errorf("%v, %d workers, %d busy", err, pool.Size(), pool.Busy())
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for i := range 3 {
			time.AfterFunc(time.Duration(i*8)*time.Second, func() { q.Add(fmt.Sprint(i)) })
		}
		runs := 0
		err = workqueue.Run[string](ctx, q, 1, func(ctx context.Context, _ string) (workqueue.Result, error) {
			runs++
			if ctx.Err() != nil || pool.Size() != 1 || pool.Busy() != 1 {
				t.Errorf("%v, %d workers, %d busy", ctx.Err(), pool.Size(), pool.Busy())
			}
			return workqueue.Result{}, nil
		}, workqueue.WithPool(&pool))
		if err != nil || runs != 3 || pool.Size() != 0 {
			t.Errorf("%v after %d items, %d workers", err, runs, pool.Size())
		}
	})
}

// TestNothingBeginsAfterRun has the grace period end before the drain: items that are still ready stay in
// the queue when reconcilers return later.
func TestNothingBeginsAfterRun(t *testing.T) {
	eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 10 {
			q.Add(fmt.Sprint(i))
		}
		time.AfterFunc(time.Second/2, cancel)
		var begun atomic.Int32
		err := workqueue.Run(ctx, q, 2, func(context.Context, string) (workqueue.Result, error) {
			begun.Add(1)
			bubble.Pass(time.Second)
			return workqueue.Result{}, nil
		}, workqueue.WithDrain(), workqueue.WithGrace(2*time.Second))
		bubble.Pass(time.Hour)
		if n := begun.Load(); n != 6 || q.Len() != 4 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %d items begun, %d left", err, n, q.Len())
		}
	})
}

// TestRunWithoutGrace checks that 0 and negative grace periods mean none.
func TestRunWithoutGrace(t *testing.T) {
	for _, grace := range []time.Duration{0, -time.Second} {
		eachQueue(t, func(t *testing.T, q workqueue.TypedRateLimitingInterface[string]) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			q.Add("a")
			start := time.Now()
			err := workqueue.Run(ctx, q, 1, func(ctx context.Context, _ string) (workqueue.Result, error) {
				<-ctx.Done()
				bubble.Pass(time.Minute)
				return workqueue.Result{}, nil
			}, workqueue.WithGrace(grace))
			if after := time.Since(start); err != nil || after != time.Second+time.Minute {
				t.Errorf("grace %v: %v after %v", grace, err, after)
			}
		})
	}
}

// TestRunOfNothing checks that Run returns an error for a missing argument at once, instead of a panic in a
// worker.
func TestRunOfNothing(t *testing.T) {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer q.ShutDown()
	reconcile := func(context.Context, string) (workqueue.Result, error) { return workqueue.Result{}, nil }
	for want, err := range map[string]error{
		"needs a queue":                 workqueue.Run(t.Context(), nil, 1, reconcile),
		"needs a function to reconcile": workqueue.Run(t.Context(), q, 1, nil),
		"WithErrorHandler needs a function": workqueue.Run(t.Context(), q, 1, reconcile,
			workqueue.WithErrorHandler(nil)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestEnqueueOfNothing checks that Enqueue refuses a nil queue at once, and not at an event.
func TestEnqueueOfNothing(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "needs a queue, got nil") {
			t.Errorf("Enqueue of nil: %q", text)
		}
	}()
	workqueue.Enqueue(nil, func(_, _ any) []string { return nil })
}
