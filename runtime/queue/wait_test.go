package queue_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestAContextThatEndsLosesNothing ends contexts while items arrive.
func TestAContextThatEndsLosesNothing(t *testing.T) {
	q := queue.New(queue.Config[int]{})
	const n = 2000
	var got atomic.Int64
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				short, cancel := context.WithCancel(ctx)
				go cancel()
				if item, err := q.GetContext(short); err == nil {
					got.Add(1)
					q.Done(item)
				}
			}
		})
	}
	// This worker always waits: the wake-up of a worker that leaves must reach it.
	wg.Go(func() {
		for {
			item, err := q.GetContext(ctx)
			if err != nil {
				return
			}
			if got.Add(1); item < 0 {
				t.Error(item)
			}
			q.Done(item)
		}
	})
	for i := range n {
		q.Add(i)
		if i%16 == 0 {
			for got.Load() <= int64(i) {
				runtime.Gosched()
			}
		}
	}
	for got.Load() < n {
		runtime.Gosched()
	}
	stop()
	wg.Wait()
}

// TestWokenAndCancelled wakes a worker at the moment when its context ends: another one gets the item, and
// later items wake workers as usual.
func TestWokenAndCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		var got atomic.Int64
		take := func(ctx context.Context) {
			for {
				item, err := q.GetContext(ctx)
				if err != nil {
					return
				}
				got.Add(1)
				bubble.Pass(time.Second)
				q.Done(item)
			}
		}
		for workers := range 50 {
			go take(context.Background())
			synctest.Wait()
			// The last waiter is woken first.
			ctx, cancel := context.WithCancel(t.Context())
			go take(ctx)
			synctest.Wait()
			cancel()
			q.Add(0)
			bubble.Pass(time.Minute)
			got.Store(0)
			for item := range workers + 1 {
				q.Add(item)
			}
			synctest.Wait()
			if n := int(got.Load()); n != workers+1 {
				t.Fatalf("%d of %d items are in process, with as many workers", n, workers+1)
			}
			bubble.Pass(time.Minute)
		}
		q.ShutDown()
	})
}

// TestOneWorkerIsCancelled ends the context of one of three waiters.
func TestOneWorkerIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var got atomic.Int64
		for i := range 3 {
			wg.Go(func() {
				ctx := ctx
				if i != 1 {
					ctx = context.Background()
				}
				for {
					item, err := q.GetContext(ctx)
					if err != nil {
						return
					}
					got.Add(1)
					bubble.Pass(time.Second)
					q.Done(item)
				}
			})
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		for item := range 3 {
			q.Add(item)
		}
		synctest.Wait()
		if n := got.Load(); n != 2 {
			t.Errorf("%d items are in process by the two workers left", n)
		}
		q.ShutDown()
		wg.Wait()
		if n := got.Load(); n != 3 {
			t.Errorf("%d items were processed", n)
		}
	})
}
