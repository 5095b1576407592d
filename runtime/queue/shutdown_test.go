package queue_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestShutDownWithDrainWaitsForWhatIsInProcess checks that it doesn't wait for items that are ready or
// delayed.
func TestShutDownWithDrainWaitsForWhatIsInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		for _, item := range []string{"a", "b", "ready"} {
			q.Add(item)
		}
		q.AddAfter("delayed", time.Minute)
		for _, seconds := range []int{1, 3} {
			item, _ := q.Get()
			if seconds == 3 {
				q.Add(item) // It runs again after Done, but no drain waits for that.
			}
			time.AfterFunc(time.Duration(seconds)*time.Second, func() { q.Done(item) })
		}
		q.Done("ready") // isn't in process
		q.Done("unknown")
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				q.ShutDownWithDrain()
				if waited := time.Since(start); waited != 3*time.Second {
					t.Errorf("waited %v, want 3s", waited)
				}
			})
		}
		wg.Wait()
		q.ShutDownWithDrain() // nothing is in process
		q.Add("late")
		q.AddAfter("late", time.Second)
		for _, want := range []string{"ready", "b"} {
			if item, _ := q.Get(); item != want {
				t.Errorf("Get is %q, want %q", item, want)
			}
		}
		if item, shutdown := q.Get(); !shutdown {
			t.Errorf("Get is %q after the end", item)
		}
		bubble.Pass(time.Hour)
		if n := q.Len(); n != 0 || !q.ShuttingDown() {
			t.Errorf("Len is %d after the end", n)
		}
	})
}

func TestShutDownEndsTheWaitOfShutDownWithDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		q.Add("a")
		q.Get()
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(q.ShutDownWithDrain)
		bubble.Pass(time.Second)
		q.ShutDown()
		wg.Wait()
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("waited %v, want 1s", waited)
		}
		q.ShutDown()
		q.Done("a")
	})
}

func TestDrainWaitsUntilAllIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		for item := range 10 {
			q.Add(item)
		}
		q.AddAfter(10, time.Second)
		var done int
		var worker sync.WaitGroup
		worker.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				bubble.Pass(time.Second)
				done++
				if done == 1 {
					q.Add(item) // ignored: the queue is draining
				}
				q.Done(item)
			}
		})
		short, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if err := q.Drain(short); err != context.DeadlineExceeded ||
			time.Since(start) != 2500*time.Millisecond {
			t.Errorf("Drain: %v after %v", err, time.Since(start))
		}
		if err := q.Drain(t.Context()); err != nil || done != 10 || time.Since(start) != 10*time.Second {
			t.Errorf("Drain: %v after %d items and %v", err, done, time.Since(start))
		}
		worker.Wait()
		if err := q.Drain(t.Context()); err != nil {
			t.Errorf("Drain of an empty queue: %v", err)
		}
	})
}

// TestDrainIsExact shuts queues down at random moments, while workers process items and some items are
// added again: both methods that drain return at the exact moment at which they may.
func TestDrainIsExact(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			q := queue.New(queue.Config[int]{})
			// Workers act at whole milliseconds, the shutdown is between two.
			end := time.Duration(r.IntN(40))*time.Millisecond + time.Millisecond/2
			start := time.Now()
			// idle is when nothing was in process for the first time after the shutdown, empty when
			// nothing was ready either.
			idle, empty := time.Duration(-1), time.Duration(-1)
			inProcess := 0
			look := func() {
				now := time.Since(start)
				if q.ShuttingDown() && inProcess == 0 {
					if idle < 0 {
						idle = now
					}
					if empty < 0 && q.Len() == 0 {
						empty = now
					}
				}
			}
			var mu sync.Mutex
			var all sync.WaitGroup
			for w := range uint64(1 + r.IntN(4)) {
				r := rand.New(rand.NewPCG(seed, w))
				all.Go(func() {
					for {
						bubble.Pass(time.Duration(r.IntN(3)) * time.Millisecond)
						mu.Lock()
						if q.Len() == 0 {
							down := q.ShuttingDown() && inProcess == 0
							mu.Unlock()
							if down {
								return
							}
							bubble.Pass(time.Millisecond)
							continue
						}
						item, _ := q.Get()
						inProcess++
						mu.Unlock()
						bubble.Pass(time.Duration(r.IntN(10)) * time.Millisecond)
						mu.Lock()
						if r.IntN(3) == 0 {
							q.Add(item)
						}
						inProcess--
						q.Done(item)
						look()
						mu.Unlock()
					}
				})
			}
			for item := range r.IntN(20) {
				q.AddAfter(item, time.Duration(r.IntN(40))*time.Millisecond)
			}
			bubble.Pass(end)
			var idleAfter, emptyAfter time.Duration
			all.Go(func() {
				q.ShutDownWithDrain()
				idleAfter = time.Since(start)
			})
			all.Go(func() {
				if err := q.Drain(t.Context()); err != nil {
					t.Error(err)
				}
				emptyAfter = time.Since(start)
			})
			synctest.Wait()
			mu.Lock()
			look()
			mu.Unlock()
			all.Wait()
			if idleAfter != idle || emptyAfter != empty {
				t.Errorf(
					"seed %d: nothing is in process after %v, ShutDownWithDrain ends after %v; nothing is "+
						"left after %v, Drain ends after %v",
					seed, idle, idleAfter, empty, emptyAfter)
			}
		})
	}
}

// TestShutDownAtAnyMoment shuts queues down in all states, from several goroutines.
func TestShutDownAtAnyMoment(t *testing.T) {
	for moment := range 60 {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(queue.Config[int]{Metrics: newGauges().metrics()})
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for {
						item, shutdown := q.Get()
						if shutdown {
							return
						}
						bubble.Pass(7 * time.Millisecond)
						q.AddAfter(item, 5*time.Millisecond)
						q.Done(item)
					}
				})
			}
			for item := range 5 {
				q.AddAfter(item, time.Duration(item)*time.Millisecond)
			}
			bubble.Pass(time.Duration(moment) * time.Millisecond)
			for range 2 {
				wg.Go(q.ShutDown)
				wg.Go(q.ShutDownWithDrain)
			}
			wg.Wait()
			q.ShutDownWithDrain()
		})
	}
}
