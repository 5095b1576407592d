package workqueue_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// plainScenarios are the scenarios of adding, taking and shutting down.
var plainScenarios = map[string]scenario{
	"order and duplicates": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		for _, item := range []string{"c", "a", "c", "b", "a"} {
			q.Add(item)
			tr.say("%d", q.Len())
		}
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"added while in process": {guarantee.NewestAfterDone, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		q.Add("b")
		q.Add("a")
		q.Add("a")
		tr.say("%d", q.Len())
		q.Done("a")
		tr.say("%d", q.Len())
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"done without get": {guarantee.NoneTwiceAtOnce, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Done("a")
		q.Add("a")
		q.Done("a")
		tr.say("%d", q.Len())
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"done twice": {guarantee.NoneTwiceAtOnce, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		q.Done(tr.get(q))
		q.Done("a")
		q.Add("a")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"shutdown": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: exponential(time.Second, time.Hour)})
		for _, item := range []string{"a", "b"} {
			q.Add(item)
		}
		tr.get(q)
		q.Add("a")
		q.AddAfter("delayed", time.Second)
		tr.say("%v", q.ShuttingDown())
		q.ShutDown()
		q.ShutDown()
		tr.say("%v", q.ShuttingDown())
		for _, item := range []string{"c", "b"} {
			q.Add(item)
			q.AddAfter(item, time.Second)
			q.AddRateLimited(item)
		}
		tr.say("%d", q.NumRequeues("c"))
		bubble.Advance(time.Minute)
		q.Done("a")
		tr.rest(q)
		tr.get(q)
		return tr.lines
	}},
	"waiting workers end": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { tr.get(q) })
		}
		bubble.Advance(time.Second)
		q.ShutDown()
		wg.Wait()
		return tr.lines
	}},
	"drain": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: exponential(time.Second, time.Hour)})
		q.Add("a")
		q.Add("b")
		tr.get(q)
		q.AddAfter("delayed", 2*time.Second)
		var wg sync.WaitGroup
		wg.Go(func() {
			q.ShutDownWithDrain()
			tr.say("%v drained", time.Since(tr.start))
		})
		bubble.Advance(3 * time.Second)
		q.Done("a")
		wg.Wait()
		tr.rest(q)
		tr.get(q)
		q.ShutDown()
		return tr.lines
	}},
	"drain of nothing": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		q.ShutDownWithDrain()
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"shutdown ends a drain": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		var wg sync.WaitGroup
		wg.Go(q.ShutDownWithDrain)
		bubble.Advance(time.Second)
		q.ShutDown()
		wg.Wait()
		tr.say("%v", time.Since(tr.start))
		return tr.lines
	}},
	"many drain": {guarantee.NoneLost, func(s side) []string {
		tr, q := newTranscript(), s.plain(config{})
		q.Add("a")
		tr.get(q)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				q.ShutDownWithDrain()
				tr.say("%v drained", time.Since(tr.start))
			})
		}
		bubble.Advance(time.Second)
		q.Done("a")
		bubble.Advance(time.Second)
		q.ShutDown()
		wg.Wait()
		return tr.lines
	}},
	"random": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		for seed := range uint64(20) {
			q := s.limiting(config{limiter: exponential(time.Millisecond, time.Second)})
			r := rand.New(rand.NewPCG(seed, 10))
			inProcess := map[string]bool{}
			for range 1000 {
				item := fmt.Sprint(r.IntN(20))
				switch r.IntN(8) {
				case 0, 1:
					q.Add(item)
				case 2:
					// Distinct delays, because client-go leaves the order of equal ones open.
					q.AddAfter(item, time.Duration(r.IntN(1_000_000_000)))
				case 3:
					bubble.Advance(1)
					q.AddRateLimited(item)
				case 4:
					q.Forget(item)
					tr.say("%d", q.NumRequeues(item))
				case 5:
					if inProcess[item] {
						q.Done(item)
						delete(inProcess, item)
					}
				case 6:
					if q.Len() > 0 {
						inProcess[tr.get(q)] = true
					}
				case 7:
					for range r.IntN(100) {
						bubble.Advance(time.Duration(r.IntN(1_000_000)))
					}
				}
				synctest.Wait()
				tr.say("%d", q.Len())
			}
			q.ShutDown()
			for item := range inProcess {
				q.Done(item)
			}
			synctest.Wait()
			tr.say("%d", q.Len())
		}
		return tr.lines
	}},
}
