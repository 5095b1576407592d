package queue_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/queue"
)

// BenchmarkOrders is add, get and done over a backlog, with the orders that only this package has
// (priorities, and 100 flows in turns), and with first in, first out for comparison. client-go's queue is
// first in, first out in all rows. All other benchmarks are in package workqueue, whose constructors
// controllers call.
func BenchmarkOrders(b *testing.B) {
	for _, backlog := range []int{0, 1000, 100_000} {
		keys := keys(2*backlog + 1024)
		for _, order := range []struct {
			name   string
			config queue.Config[string]
		}{
			{"fifo", queue.Config[string]{}},
			{"priority",
				queue.Config[string]{Priority: func(item string) int { return int(item[len(item)-1]) % 5 }}},
			{"flows",
				queue.Config[string]{Flow: func(item string) string {
					return item[:strings.IndexByte(item, '/')]
				}}},
		} {
			for name, make := range map[string]func() workqueue.TypedInterface[string]{
				"ours":     func() workqueue.TypedInterface[string] { return queue.New(order.config) },
				"upstream": func() workqueue.TypedInterface[string] { return workqueue.NewTyped[string]() },
			} {
				b.Run(fmt.Sprintf("backlog=%d/order=%s/%s", backlog, order.name, name), func(b *testing.B) {
					q := make()
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

// BenchmarkKept is add, get and done of items of which nothing is kept, in a queue without Keep, in one with
// it, and in one that keeps the lines of 256 others.
func BenchmarkKept(b *testing.B) {
	for name, lines := range map[string]int{"off": -1, "none": 0, "others": 256} {
		b.Run(name, func(b *testing.B) {
			q := queue.New(queue.Config[string]{})
			defer q.ShutDown()
			if lines >= 0 {
				q.Keep()
			}
			for n := range lines {
				q.Line(fmt.Sprintf("other/%d", n))
			}
			keys := keys(1024)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q.Add(keys[i%len(keys)])
				item, _ := q.Get()
				q.Done(item)
			}
		})
	}
}

func keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", i%100, i)
	}
	return keys
}
