package queue_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/runtime/queue"
)

// TestShutDownWithDrainWaitsForWhatIsInProcess and for nothing else: an item
// that is ready and one that is delayed don't hold it up.
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
				q.Add(item) // runs again after Done, which nobody waits for
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
		time.Sleep(time.Hour)
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
		time.Sleep(time.Second)
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
				time.Sleep(time.Second)
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
		if err := q.Drain(short); err != context.DeadlineExceeded || time.Since(start) != 2500*time.Millisecond {
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

// TestShutDownAtAnyMoment ends queues in all states, from several sides.
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
						time.Sleep(7 * time.Millisecond)
						q.AddAfter(item, 5*time.Millisecond)
						q.Done(item)
					}
				})
			}
			for item := range 5 {
				q.AddAfter(item, time.Duration(item)*time.Millisecond)
			}
			time.Sleep(time.Duration(moment) * time.Millisecond)
			for range 2 {
				wg.Go(q.ShutDown)
				wg.Go(q.ShutDownWithDrain)
			}
			wg.Wait()
			q.ShutDownWithDrain()
		})
	}
}
