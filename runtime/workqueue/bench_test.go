package workqueue_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// benchSide is one of the two implementations that the benchmarks compare. Both queues are made by the
// constructors that a controller calls, which are the same in both packages. A nil clock is the real
// one.
type benchSide struct {
	name    string
	plain   func() upstream.TypedInterface[string]
	limited func(*clocktesting.FakeClock) upstream.TypedRateLimitingInterface[string]
}

var benchSides = []benchSide{
	{
		name:  "ours",
		plain: func() upstream.TypedInterface[string] { return workqueue.NewTyped[string]() },
		limited: func(c *clocktesting.FakeClock) upstream.TypedRateLimitingInterface[string] {
			return workqueue.NewTypedRateLimitingQueueWithConfig(hours(), withClock(c))
		},
	},
	{
		name:  "upstream",
		plain: func() upstream.TypedInterface[string] { return upstream.NewTyped[string]() },
		limited: func(c *clocktesting.FakeClock) upstream.TypedRateLimitingInterface[string] {
			return upstream.NewTypedRateLimitingQueueWithConfig(hours(), withClock(c))
		},
	},
}

// hours returns the limiter of both sides, client-go's. Its delays are so long that no item becomes
// ready while a benchmark runs.
func hours() upstream.TypedRateLimiter[string] {
	return upstream.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, 1000*time.Hour)
}

func withClock(c *clocktesting.FakeClock) (config upstream.TypedRateLimitingQueueConfig[string]) {
	if c != nil {
		config.Clock = c
	}
	return config
}

func keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", i%100, i)
	}
	return keys
}

// BenchmarkCycle is add, get and done by one goroutine: with a rate limiting queue, as controllers have
// it, with strings and with the keys of generated controllers, and with a plain queue.
func BenchmarkCycle(b *testing.B) {
	keys := keys(1024)
	names := make([]cache.ObjectName, len(keys))
	for i, k := range keys {
		names[i], _ = cache.ParseObjectName(k)
	}
	for _, s := range benchSides {
		b.Run("items=string/"+s.name, func(b *testing.B) { cycle(b, s.limited(nil), keys) })
	}
	b.Run("items=ObjectName/ours", func(b *testing.B) {
		cycle(b, workqueue.NewTypedRateLimitingQueue[cache.ObjectName](nil), names)
	})
	b.Run("items=ObjectName/upstream", func(b *testing.B) {
		cycle(
			b,
			upstream.NewTypedRateLimitingQueue(
				upstream.DefaultTypedControllerRateLimiter[cache.ObjectName]()), names)
	})
	for _, s := range benchSides {
		b.Run("queue=plain/"+s.name, func(b *testing.B) { cycle(b, s.plain(), keys) })
	}
}

func cycle[T comparable](b *testing.B, q upstream.TypedInterface[T], items []T) {
	defer q.ShutDown()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		q.Add(items[i&1023])
		item, _ := q.Get()
		q.Done(item)
		i++
	}
}

// BenchmarkWorkers is one producer and a number of workers.
func BenchmarkWorkers(b *testing.B) {
	keys := keys(1 << 16)
	for _, workers := range []int{1, 4, 16, 64} {
		for _, s := range benchSides {
			b.Run(fmt.Sprintf("workers=%d/%s", workers, s.name), func(b *testing.B) {
				q := s.limited(nil)
				var wg sync.WaitGroup
				for range workers {
					wg.Go(func() {
						for {
							item, shutdown := q.Get()
							if shutdown {
								return
							}
							q.Done(item)
						}
					})
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					q.Add(keys[i&(1<<16-1)])
				}
				q.ShutDown()
				wg.Wait()
			})
		}
	}
}

// BenchmarkRun is one producer and the loop of a controller's workers. Ours is Run. client-go has none, so
// its side is the loop that controllers write, without contexts and error handling.
func BenchmarkRun(b *testing.B) {
	keys := keys(1 << 16)
	for _, workers := range []int{1, 16} {
		for _, s := range benchSides {
			b.Run(fmt.Sprintf("workers=%d/%s", workers, s.name), func(b *testing.B) {
				q := s.limited(nil)
				var wg sync.WaitGroup
				if s.name == "ours" {
					wg.Go(func() {
						_ = workqueue.Run(b.Context(), q, workers,
							func(context.Context, string) (workqueue.Result, error) {
								return workqueue.Result{}, nil
							})
					})
				} else {
					for range workers {
						wg.Go(func() {
							for {
								item, shutdown := q.Get()
								if shutdown {
									return
								}
								q.Forget(item)
								q.Done(item)
							}
						})
					}
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					q.Add(keys[i&(1<<16-1)])
				}
				q.ShutDown()
				wg.Wait()
			})
		}
	}
}

// BenchmarkClosed is a number of workers that add the items that they have done.
func BenchmarkClosed(b *testing.B) {
	for _, workers := range []int{4, 16, 64} {
		keys := keys(workers * 2)
		for _, s := range benchSides {
			b.Run(fmt.Sprintf("workers=%d/%s", workers, s.name), func(b *testing.B) {
				q := s.limited(nil)
				for _, k := range keys {
					q.Add(k)
				}
				var wg sync.WaitGroup
				b.ReportAllocs()
				b.ResetTimer()
				for range workers {
					wg.Go(func() {
						for range b.N/workers + 1 {
							item, _ := q.Get()
							q.Add(item)
							q.Done(item)
						}
					})
				}
				wg.Wait()
				q.ShutDown()
			})
		}
	}
}

// heap returns the bytes of the live heap.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBacklog adds 100,000 items and then takes them.
func BenchmarkBacklog(b *testing.B) {
	keys := keys(100_000)
	for _, s := range benchSides {
		b.Run(s.name, func(b *testing.B) {
			var bytes float64
			for b.Loop() {
				b.StopTimer()
				q := s.limited(nil)
				before := heap()
				b.StartTimer()
				for _, k := range keys {
					q.Add(k)
				}
				b.StopTimer()
				bytes += float64(int64(heap()-before)) / float64(len(keys))
				b.StartTimer()
				for range keys {
					item, _ := q.Get()
					q.Done(item)
				}
				q.ShutDown()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/item")
			b.ReportMetric(bytes/float64(b.N), "B/item")
		})
	}
}

// BenchmarkDelayed adds 1,000,000 delayed items, and adds them again in another order.
func BenchmarkDelayed(b *testing.B) {
	keys := keys(1_000_000)
	for _, s := range benchSides {
		b.Run(s.name, func(b *testing.B) {
			var add, again time.Duration
			var bytes, allocs float64
			for b.Loop() {
				q := s.limited(nil)
				before := heap()
				var m0, m1 runtime.MemStats
				runtime.ReadMemStats(&m0)
				start := time.Now()
				addSpread(q, keys)
				add += time.Since(start)
				runtime.ReadMemStats(&m1)
				allocs += float64(m1.Mallocs - m0.Mallocs)
				start = time.Now()
				for i := range keys {
					q.AddAfter(keys[i*7919%len(keys)], 2*time.Hour)
				}
				again += time.Since(start)
				bytes += float64(int64(heap() - before))
				q.ShutDown()
			}
			n := float64(b.N * len(keys))
			b.ReportMetric(float64(add)/n, "add-ns/item")
			b.ReportMetric(float64(again)/n, "again-ns/item")
			b.ReportMetric(bytes/n, "B/item")
			b.ReportMetric(allocs/n, "allocs/item")
		})
	}
}

// BenchmarkDelivery lets 1,000,000 delayed items become due at once, and takes them. The clock is fake,
// so that it can be stepped; the other benchmarks of delays have the real one, as controllers do.
func BenchmarkDelivery(b *testing.B) {
	keys := keys(1_000_000)
	for _, s := range benchSides {
		b.Run(s.name, func(b *testing.B) {
			var deliver time.Duration
			for b.Loop() {
				clock := clocktesting.NewFakeClock(time.Now())
				q := s.limited(clock)
				addSpread(q, keys)
				start := time.Now()
				clock.Step(2 * time.Hour)
				for range keys {
					item, _ := q.Get()
					q.Done(item)
				}
				deliver += time.Since(start)
				q.ShutDown()
			}
			b.ReportMetric(float64(deliver)/float64(b.N*len(keys)), "deliver-ns/item")
		})
	}
}

// addSpread adds keys with delays of an hour and more, in another order.
func addSpread(q upstream.TypedDelayingInterface[string], keys []string) {
	for i, k := range keys {
		q.AddAfter(k, time.Hour+time.Duration(i*7919%len(keys))*time.Microsecond)
	}
}

// BenchmarkBurst calls AddAfter while 1,000,000 items become due at once, and reports how long a call
// takes. The clock is fake, as in BenchmarkDelivery.
func BenchmarkBurst(b *testing.B) {
	keys := keys(1_000_000)
	for _, s := range benchSides {
		b.Run(s.name, func(b *testing.B) {
			var typical, rare, worst time.Duration
			for b.Loop() {
				clock := clocktesting.NewFakeClock(time.Now())
				q := s.limited(clock)
				for _, k := range keys {
					q.AddAfter(k, time.Hour)
				}
				runtime.GC()
				took := make([]time.Duration, 5000)
				clock.Step(time.Hour)
				for i := range took {
					start := time.Now()
					q.AddAfter(keys[i], time.Hour)
					took[i] = time.Since(start)
				}
				slices.Sort(took)
				typical += took[len(took)/2]
				rare += took[len(took)*99/100]
				worst += took[len(took)-1]
				q.ShutDown()
			}
			b.ReportMetric(float64(typical)/float64(b.N), "p50-ns")
			b.ReportMetric(float64(rare)/float64(b.N), "p99-ns")
			b.ReportMetric(float64(worst)/float64(b.N), "max-ns")
		})
	}
}

// BenchmarkAgain adds 1,000,000 delayed items again: in the same order, as a resync would, and in
// another one, where each item costs cache misses.
func BenchmarkAgain(b *testing.B) {
	keys := keys(1_000_000)
	for _, step := range []int{1, 7919} {
		order := map[int]string{1: "same", 7919: "other"}[step]
		for _, s := range benchSides {
			b.Run("order="+order+"/"+s.name, func(b *testing.B) {
				q := s.limited(nil)
				defer q.ShutDown()
				for _, k := range keys {
					q.AddAfter(k, time.Hour)
				}
				runtime.GC()
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					if i += step; i >= len(keys) {
						i -= len(keys)
					}
					q.AddAfter(keys[i], 2*time.Hour)
				}
			})
		}
	}
}

// BenchmarkIdle makes rate limiting queues with the limiter of controllers, and reports what each of
// them holds while it does nothing.
func BenchmarkIdle(b *testing.B) {
	for _, s := range []struct {
		name string
		make func() upstream.TypedRateLimitingInterface[string]
	}{
		{"ours", func() upstream.TypedRateLimitingInterface[string] {
			return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		}},
		{"upstream", func() upstream.TypedRateLimitingInterface[string] {
			return upstream.NewTypedRateLimitingQueue(upstream.DefaultTypedControllerRateLimiter[string]())
		}},
	} {
		b.Run(s.name, func(b *testing.B) {
			const n = 10_000
			queues := make([]upstream.TypedRateLimitingInterface[string], n)
			var bytes, stacks, goroutines float64
			for b.Loop() {
				before, goroutinesBefore, stacksBefore := heap(), runtime.NumGoroutine(), stackBytes()
				for i := range queues {
					queues[i] = s.make()
				}
				goroutines += float64(runtime.NumGoroutine() - goroutinesBefore)
				bytes += float64(heap() - before)
				stacks += float64(stackBytes() - stacksBefore)
				for i := range queues {
					queues[i].ShutDown()
					queues[i] = nil
				}
			}
			b.ReportMetric(bytes/float64(b.N)/n, "B/queue")
			b.ReportMetric(stacks/float64(b.N)/n, "stack-B/queue")
			b.ReportMetric(goroutines/float64(b.N)/n, "goroutines/queue")
		})
	}
}

func stackBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}

// BenchmarkRateLimited is a failure and a success: AddRateLimited and Forget.
func BenchmarkRateLimited(b *testing.B) {
	keys := keys(1 << 16)
	for _, s := range benchSides {
		b.Run(s.name, func(b *testing.B) {
			q := s.limited(nil)
			defer q.ShutDown()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				k := keys[i&(1<<16-1)]
				q.AddRateLimited(k)
				q.Forget(k)
				i++
			}
		})
	}
}
