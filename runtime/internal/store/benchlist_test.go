package store

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// BenchmarkList fills one store at a time: most of a list's cost is its share of garbage collection with
// 100,000 objects, and a program has one such store. During a collection, a list checks the mark of each
// object, so it matters where the objects are in memory.
func BenchmarkList(b *testing.B) {
	updated := func() []*metav1.ObjectMeta { return benchObjectsOf(1) }
	// fill fills a store and returns a function that reads every object in it.
	seeing := func(fill func() (see func() int)) func(*testing.B) {
		return func(b *testing.B) {
			see := fill()
			for b.Loop() {
				if see() != benchObjects {
					b.Fatal("missing")
				}
			}
		}
	}
	ours := func(objects func() []*metav1.ObjectMeta, see func(*benchStore) int) func(*testing.B) {
		return seeing(func() func() int {
			s := benchNew(threeIndexes...)
			benchFill(objects(), s, nil)
			return func() int { return see(s) }
		})
	}
	clientGo := func(objects func() []*metav1.ObjectMeta, see func(cache.Indexer) int) func(*testing.B) {
		return seeing(func() func() int {
			c := benchNewClientGo(threeIndexes...)
			benchFill(objects(), nil, c)
			return func() int { return see(c) }
		})
	}
	list := func(s *benchStore) int { return len(s.List()) }
	listClientGo := func(c cache.Indexer) int { return len(c.List()) }
	b.Run("list-listed/ours", ours(benchListed, list))
	b.Run("list-listed/client-go", clientGo(benchListed, listClientGo))
	b.Run("list-updated/ours", ours(updated, list))
	b.Run("list-updated/client-go", clientGo(updated, listClientGo))
	b.Run("iterated/ours", ours(updated, iterated))
	// client-go has no other way to read every object.
	b.Run("iterated/client-go", clientGo(updated, listClientGo))
	b.Run("keys-and-objects/ours", ours(updated, keysIterated))
	b.Run("keys-and-objects/client-go", clientGo(updated, keysGotClientGo))
}

func keysGotClientGo(c cache.Indexer) (n int) {
	for _, key := range c.ListKeys() {
		if _, ok, _ := c.GetByKey(key); ok {
			n++
		}
	}
	return n
}

// iterated and keysIterated are functions because b.Loop keeps variables that its body assigns in memory,
// even the state of an iterator.
func iterated(s *benchStore) (n int) {
	for o := range s.Snapshot().Values() {
		if o != nil {
			n++
		}
	}
	return n
}

func keysIterated(s *benchStore) (n int) {
	for key, o := range s.All() {
		if o != nil && key.Name != "" {
			n++
		}
	}
	return n
}

// BenchmarkWhileListed measures single look-ups and updates while one goroutine lists everything in a loop
// and another does the other of the two. It reports the slowest of 5,000.
func BenchmarkWhileListed(b *testing.B) {
	objects, again := benchObjectsOf(1), benchObjectsOf(2)
	s, c := benchNew(threeIndexes...), benchNewClientGo(threeIndexes...)
	benchFill(objects, s, c)
	measure := func(b *testing.B, list func(), other, operation func(o *metav1.ObjectMeta)) {
		var stop atomic.Bool
		var beside sync.WaitGroup
		loop := func(f func()) {
			beside.Go(func() {
				for !stop.Load() {
					f()
				}
			})
		}
		loop(list)
		i, pace := 0, time.NewTicker(100*time.Microsecond)
		defer pace.Stop()
		loop(func() {
			other(again[i%benchObjects])
			i++
			<-pace.C
		})
		r := rand.New(rand.NewPCG(3, 3))
		var took []time.Duration
		sample := time.NewTicker(50 * time.Microsecond)
		defer sample.Stop()
		for b.Loop() {
			for range 5000 {
				o := again[r.IntN(benchObjects)]
				start := time.Now()
				operation(o)
				took = append(took, time.Since(start))
				// Samples are spread over time, so that a long block counts for as many operations as it
				// would have delayed.
				<-sample.C
			}
		}
		stop.Store(true)
		beside.Wait()
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*999/1000].Nanoseconds()), "p99.9-ns")
	}
	get := func(o *metav1.ObjectMeta) { s.Get(benchKey(o)) }
	getClientGo := func(o *metav1.ObjectMeta) { _, _, _ = c.GetByKey(o.Namespace + "/" + o.Name) }
	put := func(o *metav1.ObjectMeta) { benchPut(s, o) }
	putClientGo := func(o *metav1.ObjectMeta) { _ = c.Update(o) }
	list := func() { s.List() }
	listClientGo := func() { c.List() }
	b.Run("get/ours", func(b *testing.B) { measure(b, list, put, get) })
	b.Run("get/client-go", func(b *testing.B) { measure(b, listClientGo, putClientGo, getClientGo) })
	b.Run("update/ours", func(b *testing.B) { measure(b, list, get, put) })
	b.Run("update/client-go", func(b *testing.B) { measure(b, listClientGo, getClientGo, putClientGo) })
}
