package kwctrl_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestLaws has many producers and workers at a time. No two workers have the same item, an item is in the
// queue only once and comes with the highest of its priorities, and none is lost.
func TestLaws(t *testing.T) {
	for _, s := range sides[int]() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testLaws(t, s.make(t.Name(), newFailures())) })
		})
	}
}

func testLaws(t *testing.T, q priorityqueue.PriorityQueue[int]) {
	const producers, workers, items = 10, 100, 300
	// ledger holds the priority of each item that is in the queue. It is guarded by a channel, because the
	// bubble's time doesn't pass while a goroutine waits for a mutex.
	ledger := map[int]int{}
	lock := make(chan struct{}, 1)
	var inProcess [items]atomic.Int64
	var producing, working sync.WaitGroup
	var produced atomic.Bool
	for p := range uint64(producers) {
		r := rand.New(rand.NewPCG(p, 18))
		producing.Go(func() {
			for range 1000 {
				item, priority := r.IntN(items), int(int32(r.Uint64()))
				o := priorityqueue.AddOpts{Priority: &priority}
				if r.IntN(2) == 0 {
					o.After = time.Duration(r.IntN(100)) * time.Millisecond
				}
				lock <- struct{}{}
				q.AddWithOpts(o, item)
				if before, there := ledger[item]; !there || before < priority {
					ledger[item] = priority
				}
				<-lock
				if r.IntN(10) == 0 {
					bubble.Pass(time.Duration(r.IntN(10)) * time.Millisecond)
				}
			}
		})
	}
	for range workers {
		working.Go(func() {
			for {
				lock <- struct{}{}
				if len(ledger) == 0 {
					end := produced.Load()
					<-lock
					if end {
						return
					}
					bubble.Pass(time.Millisecond)
					continue
				}
				item, priority, shutdown := q.GetWithPriority()
				if want, there := ledger[item]; !there || priority != want || shutdown {
					t.Errorf("%s: got %d, %d, %v, want priority %d", guarantee.OrderOfPriorities, item, priority,
						shutdown, want)
				}
				delete(ledger, item)
				<-lock
				if inProcess[item].Add(1) != 1 {
					t.Errorf("%s: %d is in process twice", guarantee.NoneTwiceAtOnce, item)
				}
				bubble.Pass(time.Millisecond)
				inProcess[item].Add(-1)
				q.Done(item)
			}
		})
	}
	producing.Wait()
	produced.Store(true)
	working.Wait()
	synctest.Wait()
	if n := q.Len(); n != 0 {
		t.Errorf("%s: %d are left", guarantee.NoneLost, n)
	}
	for priority, n := range measure(t, t.Name()).depth {
		// Upstream's depth is wrong once there have been too many priorities.
		if _, err := strconv.Atoi(priority); err == nil && n < 0 {
			t.Errorf("%s: depth of %s is %v", guarantee.NoneLost, priority, n)
		}
	}
	q.ShutDown()
}

// TestManyItems: 100 workers empty a queue of 1,000 items, 20 times.
func TestManyItems(t *testing.T) {
	for _, s := range sides[string]() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := s.make(t.Name(), nil)
				r := rand.New(rand.NewPCG(1, 19))
				for range 20 {
					for i := range 1000 {
						o := priorityqueue.AddOpts{After: time.Duration(r.IntN(10)) * time.Millisecond}
						if p := r.IntN(100); p >= 10 {
							o = priorityqueue.AddOpts{Priority: &p}
						}
						q.AddWithOpts(o, fmt.Sprint(i))
					}
					var got [1000]atomic.Int64
					var all sync.WaitGroup
					for range 100 {
						all.Go(func() {
							for range 10 {
								item, _, _ := q.GetWithPriority()
								i, _ := strconv.Atoi(item)
								got[i].Add(1)
								q.Done(item)
							}
						})
					}
					all.Wait()
					for i := range got {
						if n := got[i].Load(); n != 1 {
							t.Errorf("%s: %d was handed out %d times", guarantee.NoneTwiceAtOnce, i, n)
						}
					}
				}
				q.ShutDown()
			})
		})
	}
}

// TestShutDownAtAnyMoment shuts queues down while workers add and take items. All workers end.
func TestShutDownAtAnyMoment(t *testing.T) {
	for _, s := range sides[int]() {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "upstream" && !isV025() {
				t.Skip("controller-runtime v0.24's queue never returns from some calls of GetWithPriority")
			}
			for round := range uint64(50) {
				q := s.make(t.Name(), nil)
				var taken atomic.Int64
				var workers sync.WaitGroup
				for w := range uint64(20) {
					r := rand.New(rand.NewPCG(round, w))
					workers.Go(func() {
						for {
							priority := r.IntN(100)
							q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, r.Int())
							if _, _, shutdown := q.GetWithPriority(); shutdown {
								return
							}
							taken.Add(1)
						}
					})
				}
				for taken.Load() < int64(5*round) {
					runtime.Gosched()
				}
				q.ShutDown()
				workers.Wait()
			}
		})
	}
}

// TestShutDownWithDrain: ShutDownWithDrain waits for items in process, and the queue hands out none
// meanwhile.
func TestShutDownWithDrain(t *testing.T) {
	inBubble(t, sides[string]()[0], scenario{guarantee.NoneTwiceAtOnce, func(r *rig) {
		r.add(0, "foo", "bar", "baz")
		r.gets("foo", 0)
		r.gets("bar", 0)
		r.add(0, "foo")
		var over atomic.Bool
		go func() {
			r.q.ShutDownWithDrain()
			over.Store(true)
		}()
		synctest.Wait()
		r.has(r.worker(), handed{shutdown: true})
		r.done("foo")
		r.has(r.worker(), handed{shutdown: true})
		if over.Load() {
			r.failed("it didn't wait for bar")
		}
		r.done("bar")
		if !over.Load() {
			r.failed("it waits though nothing is in process")
		}
		r.q.ShutDown() // once more
	}})
}

// TestShutDownBesideAWakeUp shuts the queue down while a worker wakes up for an item. Whether the worker
// still gets it or not, ShutDownWithDrain ends.
func TestShutDownBesideAWakeUp(t *testing.T) {
	for range 1000 {
		synctest.Test(t, func(t *testing.T) {
			q := kwctrl.NewPriorityQueue("", queue.Config[string]{})
			q.Add("foo")
			q.Get()
			var all sync.WaitGroup
			all.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					q.Done(item)
				}
			})
			synctest.Wait()
			q.Add("bar")
			all.Go(func() { q.Done("foo") })
			q.ShutDownWithDrain()
			all.Wait()
		})
	}
}

// TestMetricsAreTheSame: both queues have the same metrics, with the same labels and numbers of observations.
func TestMetricsAreTheSame(t *testing.T) {
	var seen []measured
	for _, s := range sides[string]() {
		t.Run(s.name, func(t *testing.T) {
			inBubble(t, s, scenario{guarantee.NoneLost, func(r *rig) {
				r.add(-100, "foo", "bar")
				r.add(0, "bar")
				r.addAfter(time.Second, "baz")
				r.gets("bar", 0)
				r.passes(time.Second)
				r.done("bar")
				r.gets("baz", 0)
				r.passes(time.Second)
				seen = append(seen, measure(r.T, r.name))
			}})
		})
	}
	if len(seen) != 2 || !reflect.DeepEqual(seen[0], seen[1]) || len(seen[0].labels) != 7 {
		t.Errorf("%s: the metrics differ, or aren't seven:\n%+v", guarantee.NoneLost, seen)
	}
}

// TestOtherMetrics: a queue without a name, or with the caller's metrics, has none in controller-runtime's
// registry.
func TestOtherMetrics(t *testing.T) {
	series := func() (n int) {
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if strings.HasPrefix(family.GetName(), "workqueue_") {
				n += len(family.Metric)
			}
		}
		return n
	}
	before := series()
	for name, m := range map[string]*queue.Metrics{
		"": nil,
		"other": {
			Depth: ignore{}, Adds: ignore{}, Latency: ignore{}, WorkDuration: ignore{},
			UnfinishedWork: ignore{}, LongestRunning: ignore{}, Retries: ignore{},
		},
	} {
		q := kwctrl.NewPriorityQueue(name, queue.Config[int]{Metrics: m})
		q.Add(1)
		q.Get()
		q.Done(1)
		q.ShutDown()
	}
	if n := series() - before; n != 0 {
		t.Errorf("%s: %d metrics", guarantee.NoneLost, n)
	}
}

// ignore is a metric of any kind.
type ignore struct{}

func (ignore) Inc()            {}
func (ignore) Dec()            {}
func (ignore) Set(float64)     {}
func (ignore) Observe(float64) {}

// TestAgeing: with Ageing, an item of low priority that has waited long enough goes before one of high
// priority.
func TestAgeing(t *testing.T) {
	for ageing, want := range map[time.Duration]string{0: "high", time.Second: "low"} {
		synctest.Test(t, func(t *testing.T) {
			q := kwctrl.NewPriorityQueue("", queue.Config[string]{Ageing: ageing})
			defer q.ShutDown()
			low := handler.LowPriority
			q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, "low")
			bubble.Pass(101 * time.Second)
			q.Add("high")
			if got, _ := q.Get(); got != want {
				t.Errorf("%s: ageing %v: %s comes first", guarantee.OrderOfPriorities, ageing, got)
			}
		})
	}
}
