package queue_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestLimitersAreClientGos compares every limiter with client-go's of the same
// numbers, over random calls. The bubble keeps the buckets' clock still.
func TestLimitersAreClientGos(t *testing.T) {
	bucket := func() *rate.Limiter { return rate.NewLimiter(3, 5) }
	for name, pair := range map[string]func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]){
		"default": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return queue.DefaultLimiter[int](), workqueue.DefaultTypedControllerRateLimiter[int]()
		},
		"exponential": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return queue.NewExponentialLimiter[int](3*time.Millisecond, time.Hour),
				workqueue.NewTypedItemExponentialFailureRateLimiter[int](3*time.Millisecond, time.Hour)
		},
		"fast and slow": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return queue.NewFastSlowLimiter[int](1, time.Hour, 3),
				workqueue.NewTypedItemFastSlowRateLimiter[int](1, time.Hour, 3)
		},
		"bucket": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return &queue.BucketLimiter[int]{Limiter: bucket()}, &workqueue.TypedBucketRateLimiter[int]{Limiter: bucket()}
		},
		"max": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return queue.NewMaxLimiter[int](queue.NewExponentialLimiter[int](time.Microsecond, time.Hour), &queue.BucketLimiter[int]{Limiter: bucket()}),
				workqueue.NewTypedMaxOfRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[int](time.Microsecond, time.Hour),
					&workqueue.TypedBucketRateLimiter[int]{Limiter: bucket()})
		},
		"max wait": func() (queue.Limiter[int], workqueue.TypedRateLimiter[int]) {
			return queue.NewMaxWaitLimiter[int](queue.NewExponentialLimiter[int](time.Microsecond, time.Hour), time.Minute),
				workqueue.NewTypedWithMaxWaitRateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[int](time.Microsecond, time.Hour), time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 9))
				ours, theirs := pair()
				for range 5000 {
					item := r.IntN(10)
					switch r.IntN(40) {
					case 0:
						ours.Forget(item)
						theirs.Forget(item)
					case 1:
						bubble.Pass(time.Duration(r.IntN(1000)) * time.Millisecond)
					default:
						if got, want := ours.When(item), theirs.When(item); got != want {
							t.Fatalf("When(%d) is %v, want %v", item, got, want)
						}
					}
					if got, want := ours.NumRequeues(item), theirs.NumRequeues(item); got != want {
						t.Fatalf("NumRequeues(%d) is %v, want %v", item, got, want)
					}
				}
			})
		})
	}
}

// TestExponentialDelayNeverOverflows where client-go's 63rd delay of 1 ns is
// negative.
func TestExponentialDelayNeverOverflows(t *testing.T) {
	l := queue.NewExponentialLimiter[string](1, math.MaxInt64)
	last := time.Duration(0)
	for i := range 2000 {
		delay := l.When("a")
		if delay < last {
			t.Fatalf("delay %d is %v after %v", i, delay, last)
		}
		last = delay
	}
	if last != math.MaxInt64 {
		t.Errorf("the delay ends at %v", last)
	}
}

// TestTurnLimiter overloads a queue with one item twice as often as the rate
// allows: it runs at the rate, where with a plain bucket each run comes later
// than the one before.
func TestTurnLimiter(t *testing.T) {
	gaps := func(limiter queue.Limiter[string]) (gaps []time.Duration) {
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
		got := gaps(queue.NewTurnLimiter[string](5, 1))
		for i, gap := range got[1:] {
			if gap > 300*time.Millisecond {
				t.Errorf("gap %d is %v", i, gap)
			}
		}
		if plain := gaps(&queue.BucketLimiter[string]{Limiter: rate.NewLimiter(5, 1)}); len(plain) > len(got)/3 {
			t.Errorf("the plain bucket gave %d runs, the other one %d", len(plain), len(got))
		}
	})
}

func TestTurnLimiterForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := queue.NewTurnLimiter[string](1, 1)
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
			Limiter: queue.NewFastSlowLimiter[string](0, time.Minute, 1),
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
