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

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/queue"
)

// ledger checks the calls of producers and workers, whose items are small integers.
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
		l.t.Errorf("%s: %d is in process twice", guarantee.NoneTwiceAtOnce, item)
	}
	if runs := i.runs.Add(1); runs > i.adds.Load() {
		l.t.Errorf("%s: %d runs %d times for %d adds", guarantee.NoneTwiceAtOnce, item, runs, i.adds.Load())
	}
}

// doing is called before each Done.
func (l *ledger) doing(item int) { l.items[item].running.Add(-1) }

// settled is called when the queue is empty, and checks that each Add was followed by a run.
func (l *ledger) settled() {
	for item := range l.items {
		if i := &l.items[item]; i.lastRun.Load() < i.lastAdd.Load() {
			l.t.Errorf("%s: %d is lost: last added at %d, last run at %d", guarantee.NoneLost, item, i.lastAdd.Load(),
				i.lastRun.Load())
		}
	}
}

func latest(to *atomic.Int64, v int64) {
	for old := to.Load(); v > old && !to.CompareAndSwap(old, v); old = to.Load() {
	}
}

// TestLaws runs many producers and workers that use all methods to add and to get.
func TestLaws(t *testing.T) {
	flow := func(item int) string { return string(rune('a' + item%5)) }
	for name, config := range map[string]queue.Config[int]{
		"plain":    {},
		"priority": {Priority: func(item int) int { return item % 4 }},
		"fair":     {Flow: flow},
		"fair, priority": {Flow: flow, Priority: func(item int) int { return item % 4 },
			Metrics: newGauges().metrics()},
		"hook": {Order: workqueue.DefaultQueue[int]()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const items = 100
				l := newLedger(t, items)
				config.Limiter = workqueue.NewTypedItemExponentialFailureRateLimiter[int](
					time.Millisecond, 50*time.Millisecond)
				q := queue.New(config)
				var producers, workers sync.WaitGroup
				for p := range uint64(4) {
					r := rand.New(rand.NewPCG(p, 6))
					producers.Go(func() {
						for range 2000 {
							item := r.IntN(items)
							l.adding(item)
							switch r.IntN(5) {
							case 0, 1:
								q.Add(item)
							case 2:
								q.AddAfter(item, time.Duration(r.IntN(50))*time.Millisecond)
							case 3:
								p := r.IntN(10)
								q.AddWith(item, queue.AddOptions{Priority: &p})
							case 4:
								q.AddRateLimited(item)
							}
							if r.IntN(20) == 0 {
								bubble.Pass(time.Duration(r.IntN(20)) * time.Millisecond)
							}
						}
					})
				}
				for w := range uint64(8) {
					r := rand.New(rand.NewPCG(w, 7))
					workers.Go(func() { work(t, q, l, r) })
				}
				producers.Wait()
				bubble.Pass(time.Second)
				if err := q.Drain(t.Context()); err != nil {
					t.Error(err)
				}
				l.settled()
				workers.Wait()
			})
		})
	}
}

// TestAMillionItems has 1,000 workers take 1,000,000 items, of 100 flows and
// 10 priorities.
func TestAMillionItems(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n /= 20
	}
	q := queue.New(queue.Config[int]{
		Flow:     func(item int) string { return string(rune('a' + item%100)) },
		Priority: func(item int) int { return item / 100 % 10 },
	})
	l := newLedger(t, n)
	var workers, producers sync.WaitGroup
	for range 1000 {
		workers.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				l.got(item)
				l.doing(item)
				q.Done(item)
			}
		})
	}
	for p := range 4 {
		producers.Go(func() {
			for item := p; item < n; item += 4 {
				l.adding(item)
				q.Add(item)
			}
		})
	}
	producers.Wait()
	if err := q.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	l.settled()
	workers.Wait()
}

// TestNeverEarly has producers delay items while workers wait for them: each comes exactly when its delay
// is over, and items with equal due times in the order in which they were added.
func TestNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const producers, n = 4, 2000
		q := queue.New(queue.Config[int]{})
		var due [producers * n]time.Time
		var wg sync.WaitGroup
		for p := range producers {
			r := rand.New(rand.NewPCG(uint64(p), 12))
			wg.Go(func() {
				for i := range n {
					delay := time.Duration(1+r.IntN(100)) * time.Millisecond
					item := p*n + i
					due[item] = time.Now().Add(delay)
					q.AddAfter(item, delay)
					if i%10 == 0 {
						bubble.Pass(time.Duration(r.IntN(10)) * time.Millisecond)
					}
				}
			})
		}
		wg.Go(func() {
			var last [producers]int
			for range producers * n {
				item, _ := q.Get()
				if late := time.Since(due[item]); late != 0 {
					t.Errorf("%s: %d is %v late", guarantee.NotBeforeItsTime, item, late)
				}
				before := &last[item/n]
				if due[*before].Equal(due[item]) && item < *before {
					t.Errorf("%s: %d comes before %d", guarantee.NotBeforeItsTime, *before, item)
				}
				*before = item
				q.Done(item)
			}
		})
		wg.Wait()
		q.ShutDown()
	})
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
				bubble.Pass(time.Duration(r.IntN(5)) * time.Millisecond)
			}
			l.doing(item)
			q.Done(item)
		}
	}
}

// TestManyIdleQueues makes as many queues as kept two to three cores busy with client-go, according to a
// report.
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
