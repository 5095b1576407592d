package queue_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestParkedKeepsPriorityAndAge checks that a parked item takes, with its release, the place that it would
// have had, and that additions meanwhile raise it and don't repeat it.
func TestParkedKeepsPriorityAndAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauges()
		q := queue.New(queue.Config[string]{
			Ageing: time.Second, Metrics: g.metrics(),
			Gate: func(item string) bool { return item == "old" || item == "raised" },
		})
		q.Add("old")
		q.AddWith("raised", at(-5))
		bubble.Pass(time.Second)
		q.Add("young")
		q.AddWith("raised", at(9))
		q.Add("old")
		if q.Len() != 1 || q.Pending() != 3 || g.parked != 2 || g.depth != 3 {
			t.Errorf("%d are ready, %d pending, the gauges say %v parked of %v",
				q.Len(), q.Pending(), g.parked, g.depth)
		}
		for _, item := range []string{"old", "raised"} {
			if !q.Release(item) || q.Release(item) || q.Release("young") || q.Release("unknown") {
				t.Errorf("Release of %q doesn't report what it has done", item)
			}
		}
		if g.parked != 0 {
			t.Errorf("%v are parked", g.parked)
		}
		for _, want := range []string{"raised", "old", "young"} {
			if item, priority, _ := q.GetWithPriority(); item != want || (item == "raised") != (priority == 9) {
				t.Errorf("Get is %q of %d, want %q", item, priority, want)
			}
		}
		q.ShutDown()
	})
}

// TestShutdownsReleaseWhatIsParked checks that each kind of shutdown makes parked items ready, in the order
// in which they were parked, and that nothing is parked afterwards.
func TestShutdownsReleaseWhatIsParked(t *testing.T) {
	for name, shutDown := range map[string]func(*queue.Queue[int]){
		"ShutDown":          (*queue.Queue[int]).ShutDown,
		"ShutDownWithDrain": (*queue.Queue[int]).ShutDownWithDrain,
		"Drain":             func(q *queue.Queue[int]) { _ = q.Drain(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := queue.New(queue.Config[int]{Gate: func(item int) bool { return item != 0 }})
				q.Add(0)
				q.Get()
				for _, item := range []int{3, 1, 2, 3} {
					q.Add(item)
				}
				q.Release(3)
				q.Get()
				q.Add(3) // again with its Done
				var wg sync.WaitGroup
				wg.Go(func() { shutDown(q) })
				synctest.Wait()
				q.Done(3)
				for _, want := range []int{1, 2, 3} {
					if item, shutdown := q.Get(); item != want || shutdown {
						t.Errorf("Get is %d, want %d", item, want)
					}
					q.Done(want)
				}
				q.Done(0)
				wg.Wait()
				if item, shutdown := q.Get(); !shutdown {
					t.Errorf("%d is left", item)
				}
			})
		})
	}
}

// TestReleaseWakesAWaiter has a worker wait while an item is parked.
func TestReleaseWakesAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{Gate: func(int) bool { return true }})
		q.Add(1)
		got := make(chan int)
		go func() { item, _ := q.Get(); got <- item }()
		synctest.Wait()
		select {
		case item := <-got:
			t.Fatalf("Get is %d while nothing is ready", item)
		default:
		}
		q.Release(1)
		if item := <-got; item != 1 {
			t.Errorf("Get is %d", item)
		}
		q.ShutDown()
	})
}

// TestLawsOfGate has a gate hold back items at random, and others release them: no addition is lost.
func TestLawsOfGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items = 100
		l := newLedger(t, items)
		var coin atomic.Uint64
		q := queue.New(queue.Config[int]{Gate: func(int) bool { return coin.Add(1)%3 == 0 }})
		var producers, workers, releasers sync.WaitGroup
		for p := range uint64(4) {
			r := rand.New(rand.NewPCG(p, 60))
			producers.Go(func() {
				for range 2000 {
					item := r.IntN(items)
					l.adding(item)
					q.Add(item)
					if r.IntN(20) == 0 {
						bubble.Pass(time.Duration(r.IntN(20)) * time.Millisecond)
					}
				}
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		releasers.Go(func() {
			for ctx.Err() == nil {
				for item := range items {
					q.Release(item)
				}
				bubble.Pass(time.Millisecond)
			}
		})
		for w := range uint64(8) {
			r := rand.New(rand.NewPCG(w, 61))
			workers.Go(func() { work(t, q, l, r) })
		}
		producers.Wait()
		bubble.Pass(time.Second)
		if n := q.Pending(); n != 0 {
			t.Errorf("%d are pending", n)
		}
		l.settled()
		cancel()
		releasers.Wait()
		q.ShutDown()
		workers.Wait()
	})
}

type nameKey struct{}

func TestContextOfItem(t *testing.T) {
	q := queue.New(queue.Config[string]{Context: func(ctx context.Context, item string) context.Context {
		return context.WithValue(ctx, nameKey{}, item)
	}})
	if got := q.Context(t.Context(), "a").Value(nameKey{}); got != "a" {
		t.Errorf("the context has %v", got)
	}
	if plain := queue.New(queue.Config[string]{}); plain.Context(t.Context(), "a") != t.Context() {
		t.Error("a queue without the option changes the context")
	}
}
