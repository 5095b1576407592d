package kwctrl_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type requestQueue = priorityqueue.PriorityQueue[reconcile.Request]

func requests(n int) []reconcile.Request {
	all := make([]reconcile.Request, n)
	for i := range all {
		all[i].NamespacedName = types.NamespacedName{
			Namespace: fmt.Sprintf("namespace-%d", i%100), Name: fmt.Sprintf("name-%d", i),
		}
	}
	return all
}

// compare runs a benchmark with both queues, with the default limiter and with metrics, as controllers
// have them.
func compare(b *testing.B, name string, run func(*testing.B, requestQueue)) {
	for _, s := range sides[reconcile.Request]() {
		b.Run(name+"/"+s.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, s.make(b.Name(), nil))
		})
	}
}

// BenchmarkInitialList adds the requests of a list of 10,000 objects with a low priority while workers take
// them.
func BenchmarkInitialList(b *testing.B) {
	const objects = 10_000
	list, low := requests(objects), handler.LowPriority
	for _, workers := range []int{1, 16, 64} {
		compare(b, fmt.Sprintf("workers=%d", workers), func(b *testing.B, q requestQueue) {
			var done atomic.Int64
			all := make(chan struct{})
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for {
						request, _, shutdown := q.GetWithPriority()
						if shutdown {
							return
						}
						q.Forget(request)
						q.Done(request)
						if done.Add(1)%objects == 0 {
							all <- struct{}{}
						}
					}
				})
			}
			for b.Loop() {
				for _, request := range list {
					q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, request)
				}
				<-all
			}
			q.ShutDown()
			wg.Wait()
		})
	}
}

// BenchmarkWorkers has workers that add the requests that they have done again, as live changes do.
func BenchmarkWorkers(b *testing.B) {
	for _, workers := range []int{1, 16, 64} {
		list := requests(2 * workers)
		compare(b, fmt.Sprintf("workers=%d", workers), func(b *testing.B, q requestQueue) {
			for _, request := range list {
				q.Add(request)
			}
			var wg sync.WaitGroup
			b.ResetTimer()
			for range workers {
				wg.Go(func() {
					for range b.N/workers + 1 {
						request, priority, _ := q.GetWithPriority()
						q.Forget(request)
						q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request)
						q.Done(request)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			q.ShutDown()
		})
	}
}

// BenchmarkBacklog adds 1,000 requests and then takes them, in one goroutine.
func BenchmarkBacklog(b *testing.B) {
	list := requests(1000)
	compare(b, "requests=1000", func(b *testing.B, q requestQueue) {
		for b.Loop() {
			for _, request := range list {
				q.Add(request)
			}
			for range list {
				request, _ := q.Get()
				q.Done(request)
			}
		}
		q.ShutDown()
	})
}
