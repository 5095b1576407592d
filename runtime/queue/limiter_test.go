package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// TestBucketLimiter adds one item four times as often as the rate allows: the item runs at the rate. With
// client-go's bucket the gaps between its runs grow.
func TestBucketLimiter(t *testing.T) {
	gaps := func(limiter workqueue.TypedRateLimiter[string]) (gaps []time.Duration) {
		q := queue.New(queue.Config[string]{Limiter: limiter})
		stop := time.AfterFunc(time.Minute, q.ShutDown)
		defer stop.Stop()
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		last := time.Now()
		for {
			for range 2 {
				q.AddRateLimited("a")
			}
			<-ticker.C
			if q.ShuttingDown() {
				return gaps
			}
			for range drainTo(q) {
				gaps = append(gaps, time.Since(last))
				last = time.Now()
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		got := gaps(queue.NewBucketLimiter[string](5, 1))
		for i, gap := range got[1:] {
			if gap > 300*time.Millisecond {
				t.Errorf("gap %d is %v", i, gap)
			}
		}
		if plain := gaps(
			&workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(5, 1)},
		); len(plain) > len(got)/3 {
			t.Errorf("the plain bucket gave %d runs, the other one %d", len(plain), len(got))
		}
	})
}

func TestBucketLimiterForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := queue.NewBucketLimiter[string](1, 1)
		for i, want := range []time.Duration{0, time.Second, time.Second} {
			if got := l.When("a"); got != want {
				t.Errorf("When %d is %v, want %v", i, got, want)
			}
		}
		l.Forget("a")
		if got := l.When("a"); got != 2*time.Second {
			t.Errorf("after Forget When is %v, want 2s", got)
		}
		if l.NumRequeues("a") != 0 {
			t.Error("turns are counted as failures")
		}
	})
}

func TestAddWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauges()
		q := queue.New(queue.Config[string]{
			Limiter: workqueue.NewTypedItemFastSlowRateLimiter[string](0, time.Minute, 1),
			Metrics: g.metrics(),
		})
		for _, test := range []struct {
			options queue.AddOptions
			after   time.Duration
			retries float64
		}{
			{queue.AddOptions{}, 0, 0},
			{queue.AddOptions{RateLimited: true}, 0, 1},
			{queue.AddOptions{After: time.Second}, time.Second, 2},
			{queue.AddOptions{RateLimited: true, After: time.Second}, time.Minute, 3},
			{queue.AddOptions{RateLimited: true, After: time.Hour}, time.Hour, 4},
		} {
			start := time.Now()
			q.AddWith("a", test.options)
			item, _ := q.Get()
			q.Done(item)
			if after := time.Since(start); after != test.after || g.retries != test.retries {
				t.Errorf("%+v: after %v, %v retries", test.options, after, g.retries)
			}
		}
	})
}
