package queue

import (
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/kubewright/kubewright/internal/bubble"
)

// TestItemsAreLetGo checks that no part of a queue keeps items alive that have left it.
func TestItemsAreLetGo(t *testing.T) {
	q := New(Config[*[64]byte]{})
	var fifo ring[*[64]byte]
	keep := new([64]byte) // so that nothing is empty and starts afresh
	q.Add(keep)
	fifo.push(keep)

	item := new([64]byte)
	followed := weak.Make(item)
	q.AddAfter(item, time.Hour)
	q.Add(item)
	q.Cancel(item)
	for range 2 {
		got, _ := q.Get()
		q.Done(got)
	}
	fifo.push(item)
	fifo.pop()
	fifo.pop()
	fifo.push(keep)
	item = nil
	runtime.GC()
	if followed.Value() != nil {
		t.Error("an item that has left the queue is held")
	}
	runtime.KeepAlive(q)
	runtime.KeepAlive(&fifo)
}

// TestStaleNodesAreDropped moves and cancels a few items many times: heaps stay small.
func TestStaleNodesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Config[int]{Ageing: time.Millisecond})
		defer q.ShutDown()
		heap := &q.ready.(*prioritised).heap
		for i := range 10_000 {
			priority := i
			q.AddWith(1, AddOptions{Priority: &priority})
			q.AddAfter(2, time.Hour-time.Duration(i))
			q.AddAfter(3, time.Hour)
			q.Cancel(3)
			if n := max(len(heap.nodes), len(q.delays.heap.nodes)); n > 100 {
				t.Fatalf("%d nodes for two items", n)
			}
		}
	})
}

// TestNothingIsAllocated processes as many items as the queues have held before.
func TestNothingIsAllocated(t *testing.T) {
	flow := func(item int) string { return "abc"[item%3 : item%3+1] }
	for name, config := range map[string]Config[int]{
		"plain":    {},
		"priority": {Ageing: time.Second},
		"fair":     {Flow: flow},
		"both":     {Flow: flow, Ageing: time.Second},
	} {
		q := New(config)
		cycle := func() {
			for item := range 500 {
				q.Add(item)
				q.AddAfter(item+500, time.Hour)
				q.Cancel(item + 500)
			}
			for range 500 {
				item, _ := q.Get()
				q.Done(item)
			}
		}
		if n := testing.AllocsPerRun(10, cycle); n > 0 {
			t.Errorf("%s: %v allocations for 500 items", name, n)
		}
		q.ShutDown()
	}
}

// TestAnIdleQueueIsSmall counts the bytes of a queue with the default limiter.
func TestAnIdleQueueIsSmall(t *testing.T) {
	const n = 1000
	queues := make([]*Queue[string], n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range queues {
		queues[i] = New(Config[string]{})
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 1024 {
		t.Errorf("%d bytes", each)
	}
	runtime.KeepAlive(queues)
}

// TestBurstsAreGivenBack puts many items through queues of all kinds, and then a few: the memory of the
// burst is freed.
func TestBurstsAreGivenBack(t *testing.T) {
	const few, most = 10, 64 << 10
	many := 200_000
	if testing.Short() {
		many /= 5
	}
	flow := func(item int) string { return strconv.Itoa(item % 20_000) }
	held := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, config := range map[string]Config[int]{
		"plain":    {},
		"priority": {Ageing: time.Second},
		"fair":     {Flow: flow},
		"both":     {Flow: flow, Ageing: time.Second},
		"measured": {Metrics: &Metrics{
			ignore{}, nil, ignore{}, ignore{}, ignore{}, ignore{}, ignore{}, ignore{},
			ignore{}, ignore{}, ignore{}, ignore{},
		}},
		"parked": {Gate: func(int) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(config)
				defer q.ShutDown()
				before := held()
				for _, n := range []int{many, few} {
					for item := range n {
						// Added twice, with a higher priority the second time:
						// that leaves stale nodes.
						q.Add(item)
						q.AddWith(item, AddOptions{Priority: &n})
						q.AddAfter(-item, time.Hour)
					}
					if n == many && held()-before < most {
						t.Error("the burst takes nothing")
					}
					for item := range n {
						q.Release(item)
					}
					for range n {
						item, _ := q.Get()
						q.Done(item)
					}
					bubble.Advance(time.Hour)
					for item := range n {
						q.Release(-item)
					}
					for range n {
						item, _ := q.Get()
						q.Done(item)
					}
				}
				if after := held() - before; after > most {
					t.Errorf("%d bytes are held", after)
				}
				q.Add(1) // The queue still works.
				q.Release(1)
				if item, _ := q.Get(); item != 1 {
					t.Error(item)
				}
				q.Done(1)
			})
		})
	}
}

// ignore is a metric of any kind.
type ignore struct{}

func (ignore) Inc()            {}
func (ignore) Dec()            {}
func (ignore) Set(float64)     {}
func (ignore) Observe(float64) {}
