package workqueue_test

import (
	"context"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	upstream "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// callerScenarios are the scenarios with an order, a queue or metrics of the caller.
var callerScenarios = map[string]scenario{
	"an order of the caller": {guarantee.OrderOfPriorities, func(s side) []string {
		tr := newTranscript()
		q := s.plain(config{order: &spyOrder{tr: tr}})
		for _, item := range []string{"a", "b", "a"} {
			q.Add(item)
		}
		tr.get(q)
		q.Add("b")
		q.Add("b")
		q.Done("b")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"a queue of the caller": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		q := s.limiting(config{
			limiter:  exponential(time.Second, time.Hour),
			delaying: s.delaying(config{queue: &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr}}),
		})
		q.Add("a")
		q.AddAfter("b", time.Second)
		q.AddAfter("c", 0)
		q.AddRateLimited("d")
		q.AddRateLimited("d")
		bubble.Advance(time.Minute)
		tr.rest(q)
		tr.say("%d %d", q.NumRequeues("d"), q.Len())
		q.ShutDown()
		q.ShutDown()
		q.AddAfter("e", time.Second)
		bubble.Advance(time.Minute)
		return tr.lines
	}},
	"shutdown of a delaying queue while draining": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		inner := &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr}
		q := s.delaying(config{queue: inner})
		q.AddAfter("a", time.Second)
		q.ShutDownWithDrain()
		bubble.Advance(time.Minute)
		q.ShutDown()
		return tr.lines
	}},
	"a queue of the caller is shut down": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		inner := &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr}
		q := s.delaying(config{queue: inner})
		q.AddAfter("a", time.Second)
		synctest.Wait()
		inner.ShutDown()
		bubble.Advance(time.Minute)
		q.AddAfter("b", time.Second)
		q.AddAfter("c", 0)
		bubble.Advance(time.Minute)
		q.ShutDown()
		return tr.lines
	}},
	"a queue of the caller panics": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		handlers := utilruntime.PanicHandlers
		defer func() { utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, true }()
		utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, v any) {
			tr.say("panic %v", v)
		}}
		utilruntime.ReallyCrash = false
		q := s.delaying(config{queue: &spyQueue{TypedInterface: theirs.plain(config{}), tr: tr, bad: "bad"}})
		q.AddAfter("bad", time.Second)
		q.AddAfter("good", 2*time.Second)
		bubble.Advance(time.Minute)
		q.ShutDown()
		return tr.lines
	}},
	"metrics": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		q := s.limiting(config{name: "n", provider: spyProvider{tr: tr},
			limiter: exponential(time.Second, time.Hour)})
		q.Add("a")
		q.Add("a")
		bubble.Advance(100 * time.Millisecond)
		tr.get(q)
		q.Add("a")
		q.AddAfter("b", 100*time.Millisecond)
		q.AddAfter("c", 0)
		q.AddRateLimited("d")
		bubble.Advance(200 * time.Millisecond)
		q.Done("a")
		tr.rest(q)
		q.Done("a")
		q.ShutDown()
		q.AddAfter("c", 0)
		return tr.lines
	}},
	"no name, no metrics": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		for _, c := range []config{{provider: spyProvider{tr: tr}}, {name: "n"}} {
			for _, q := range []upstream.TypedInterface[string]{s.plain(c), s.delaying(c)} {
				q.Add("a")
				q.Done(tr.get(q))
				q.ShutDown()
			}
		}
		return tr.lines
	}},
	"metrics of a plain queue": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		s.plain(config{name: "n", provider: spyProvider{tr: tr}}).ShutDown()
		return tr.lines
	}},
	"metrics of a delaying queue of the caller": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		q := s.delaying(config{name: "n", provider: spyProvider{tr: tr}, queue: theirs.plain(config{})})
		q.AddAfter("a", time.Second)
		q.AddAfter("a", 0)
		q.ShutDown()
		return tr.lines
	}},
	"idle gauges": {guarantee.NoneLost, func(s side) []string {
		tr := newTranscript()
		q := s.plain(config{name: "n", provider: spyProvider{tr: tr, gauges: true}})
		bubble.Advance(1100 * time.Millisecond)
		q.Add("a")
		tr.get(q)
		bubble.Advance(1100 * time.Millisecond)
		q.Done("a")
		bubble.Advance(time.Second)
		q.ShutDown()
		return tr.lines
	}},
}
