package queue_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// BenchmarkIdle makes rate limited queues that do nothing, and reports what
// each of them holds.
func BenchmarkIdle(b *testing.B) {
	for _, s := range []struct {
		name string
		make func() workqueue.TypedRateLimitingInterface[string]
	}{
		{"ours", func() workqueue.TypedRateLimitingInterface[string] { return queue.New(queue.Config[string]{}) }},
		{"upstream", func() workqueue.TypedRateLimitingInterface[string] {
			return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		}},
	} {
		b.Run(s.name, func(b *testing.B) {
			const n = 10_000
			queues := make([]workqueue.TypedRateLimitingInterface[string], n)
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

// BenchmarkRateLimited is a failure and its end: AddRateLimited and Forget.
func BenchmarkRateLimited(b *testing.B) {
	keys := keys(1 << 16)
	for _, s := range sides {
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

// BenchmarkOrders is the cycle of BenchmarkCycle over a backlog: first in, first
// out, with priorities, and with 100 flows in turns. client-go's queue
// is first in, first out in all of them.
func BenchmarkOrders(b *testing.B) {
	for _, backlog := range []int{0, 1000, 100_000} {
		keys := keys(2*backlog + 1024)
		for _, order := range []struct {
			name   string
			config queue.Config[string]
		}{
			{"fifo", queue.Config[string]{}},
			{"priority", queue.Config[string]{Priority: func(item string) int { return int(item[len(item)-1]) % 5 }}},
			{"fair", queue.Config[string]{Flow: func(item string) string { return item[:strings.IndexByte(item, '/')] }}},
		} {
			for _, s := range sides {
				b.Run(fmt.Sprintf("backlog=%d/order=%s/%s", backlog, order.name, s.name), func(b *testing.B) {
					q := s.plain()
					if s.name == "ours" {
						q = queue.New(order.config)
					}
					defer q.ShutDown()
					for _, k := range keys[:backlog] {
						q.Add(k)
					}
					b.ReportAllocs()
					i := backlog
					for b.Loop() {
						if i++; i == len(keys) {
							i = 0
						}
						q.Add(keys[i])
						item, _ := q.Get()
						q.Done(item)
					}
				})
			}
		}
	}
}
