package queue_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/runtime/queue"
)

// ledger checks what workers and producers do to a queue of small integers.
type ledger struct {
	t     *testing.T
	clock atomic.Int64
	items []struct {
		adds, runs, running atomic.Int64
		lastAdd, lastRun    atomic.Int64
	}
}

func newLedger(t *testing.T, items int) *ledger {
	l := &ledger{t: t}
	l.items = make([]struct {
		adds, runs, running atomic.Int64
		lastAdd, lastRun    atomic.Int64
	}, items)
	return l
}

// adding is called before each Add.
func (l *ledger) adding(item int) {
	i := &l.items[item]
	i.adds.Add(1)
	latest(&i.lastAdd, l.clock.Add(1))
}

// got is called after each Get.
func (l *ledger) got(item int) {
	i := &l.items[item]
	latest(&i.lastRun, l.clock.Add(1))
	if i.running.Add(1) != 1 {
		l.t.Errorf("%d is in process twice", item)
	}
	if runs := i.runs.Add(1); runs > i.adds.Load() {
		l.t.Errorf("%d runs %d times for %d adds", item, runs, i.adds.Load())
	}
}

// doing is called before each Done.
func (l *ledger) doing(item int) { l.items[item].running.Add(-1) }

// settled is called when nothing is left: each Add was followed by a run.
func (l *ledger) settled() {
	for item := range l.items {
		if i := &l.items[item]; i.lastRun.Load() < i.lastAdd.Load() {
			l.t.Errorf("%d is lost: last added at %d, last run at %d", item, i.lastAdd.Load(), i.lastRun.Load())
		}
	}
}

func latest(to *atomic.Int64, v int64) {
	for old := to.Load(); v > old && !to.CompareAndSwap(old, v); old = to.Load() {
	}
}

// TestLaws has many producers and workers use every way to add and to get.
func TestLaws(t *testing.T) {
	share := func(item int) string { return string(rune('a' + item%5)) }
	for name, config := range map[string]queue.Config[int]{
		"plain":          {},
		"priority":       {Priority: func(item int) int { return item % 4 }},
		"fair":           {Share: share},
		"fair, priority": {Share: share, Priority: func(item int) int { return item % 4 }, Metrics: newGauges().metrics()},
		"hook":           {Order: new(queue.FIFO[int])},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const items = 100
				l := newLedger(t, items)
				q := queue.New(config)
				var producers, workers sync.WaitGroup
				for p := range uint64(4) {
					r := rand.New(rand.NewPCG(p, 6))
					producers.Go(func() {
						for range 2000 {
							item := r.IntN(items)
							l.adding(item)
							switch r.IntN(4) {
							case 0, 1:
								q.Add(item)
							case 2:
								q.AddAfter(item, time.Duration(r.IntN(50))*time.Millisecond)
							case 3:
								p := r.IntN(10)
								q.AddWith(item, queue.AddOptions{Priority: &p})
							}
							if r.IntN(20) == 0 {
								time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
							}
						}
					})
				}
				for w := range uint64(8) {
					r := rand.New(rand.NewPCG(w, 7))
					workers.Go(func() { work(t, q, l, r) })
				}
				producers.Wait()
				time.Sleep(time.Second)
				if err := q.Drain(t.Context()); err != nil {
					t.Error(err)
				}
				l.settled()
				workers.Wait()
			})
		})
	}
}

// work takes items singly, in batches, and with contexts that soon end.
func work(t *testing.T, q *queue.Queue[int], l *ledger, r *rand.Rand) {
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(10))*time.Millisecond)
		var items []int
		var err error
		switch r.IntN(3) {
		case 0:
			item, shutdown := q.Get()
			if shutdown {
				err = queue.ErrShutDown
			}
			items = []int{item}
		case 1:
			var item int
			item, err = q.GetContext(ctx)
			items = []int{item}
		case 2:
			items, err = q.GetBatch(ctx, 5)
		}
		cancel()
		if err == queue.ErrShutDown {
			return
		} else if err != nil {
			continue
		}
		for _, item := range items {
			l.got(item)
		}
		for _, item := range items {
			if r.IntN(4) == 0 {
				time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
			}
			l.doing(item)
			q.Done(item)
		}
	}
}

// TestAContextThatEndsLosesNothing lets contexts end as items arrive.
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
	// This one waits all the time: the wake-up of one that leaves must reach
	// it.
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

// TestWokenAndCancelled wakes a worker in the moment in which its context ends:
// another one gets the item, and no later item waits while a worker does.
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
				time.Sleep(time.Second)
				q.Done(item)
			}
		}
		for workers := range 50 {
			go take(context.Background())
			synctest.Wait()
			// The last that waits is the first to be woken.
			ctx, cancel := context.WithCancel(t.Context())
			go take(ctx)
			synctest.Wait()
			cancel()
			q.Add(0)
			time.Sleep(time.Minute)
			got.Store(0)
			for item := range workers + 1 {
				q.Add(item)
			}
			synctest.Wait()
			if n := int(got.Load()); n != workers+1 {
				t.Fatalf("%d of %d items are in process, with as many workers", n, workers+1)
			}
			time.Sleep(time.Minute)
		}
		q.ShutDown()
	})
}

// TestOneWorkerIsCancelled ends the wait of one of three.
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
					time.Sleep(time.Second)
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

// TestManyIdleQueues makes as many queues as an operator reported, which with
// client-go burned two to three cores.
func TestManyIdleQueues(t *testing.T) {
	before := runtime.NumGoroutine()
	queues := make([]*queue.Queue[string], 78_000)
	for i := range queues {
		queues[i] = queue.New(queue.Config[string]{Metrics: newGauges().metrics()})
	}
	queues[0].AddAfter("a", time.Hour)
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	queues[1].AddAfter("b", time.Nanosecond)
	if item, _ := queues[1].Get(); item != "b" {
		t.Errorf("Get is %q", item)
	}
	queues[1].Done("b")
	// The alarm's callback may still be on its way out.
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
	queues[0].ShutDown()
}
