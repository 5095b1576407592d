package workqueue_test

import (
	"testing/synctest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// delayScenarios are the scenarios of delays and limits.
var delayScenarios = map[string]scenario{
	"delays": {guarantee.NotBeforeItsTime, func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.AddAfter("b", 2*time.Second)
		q.AddAfter("a", time.Second)
		q.AddAfter("b", 3*time.Second)
		q.AddAfter("c", 5*time.Second)
		q.AddAfter("c", 4*time.Second)
		q.AddAfter("now", 0)
		q.AddAfter("before", -time.Second)
		for range 5 {
			q.Done(tr.get(q))
		}
		bubble.Advance(time.Minute)
		tr.say("%d", q.Len())
		q.ShutDown()
		return tr.lines
	}},
	"a delayed copy stays": {guarantee.NotBeforeItsTime, func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.AddAfter("a", time.Second)
		q.AddAfter("b", time.Second)
		q.Add("a")
		tr.rest(q)
		q.Add("b")
		bubble.Advance(time.Second) // b is ready as its delay ends, and runs once
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"delayed while in process": {guarantee.NewestAfterDone, func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		q.Add("a")
		tr.get(q)
		q.AddAfter("a", time.Second)
		bubble.Advance(2 * time.Second)
		tr.say("%d", q.Len())
		q.Done("a")
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"equal delays": {guarantee.NotBeforeItsTime, func(s side) []string {
		tr, q := newTranscript(), s.delaying(config{})
		for _, item := range []string{"d", "b", "a", "c", "e"} {
			q.AddAfter(item, time.Second)
		}
		bubble.Advance(time.Second)
		tr.rest(q)
		q.ShutDown()
		return tr.lines
	}},
	"a clock of the caller": {guarantee.NotBeforeItsTime, func(s side) []string {
		tr := newTranscript()
		clock := clocktesting.NewFakeClock(time.Now())
		q := s.delaying(config{clock: clock})
		q.AddAfter("b", 2*time.Second)
		q.AddAfter("a", time.Second)
		for range 3 {
			synctest.Wait()
			clock.Step(time.Second)
			tr.rest(q)
		}
		q.ShutDown()
		return tr.lines
	}},
	"an idle queue and its clock": {guarantee.NoLeak, func(s side) []string {
		tr := newTranscript()
		clock := clocktesting.NewFakeClock(time.Now())
		q := s.delaying(config{clock: clock})
		tr.say("the clock has waiters: %v", clock.HasWaiters())
		q.AddAfter("a", time.Second)
		synctest.Wait()
		tr.say("the clock has waiters: %v", clock.HasWaiters())
		q.ShutDown()
		return tr.lines
	}},
	"backoff": {guarantee.RetriedInTheEnd, func(s side) []string {
		tr, q := newTranscript(), s.limiting(config{limiter: exponential(time.Second, 5*time.Second)})
		for i := range 6 {
			q.AddRateLimited("a")
			tr.say("%d", q.NumRequeues("a"))
			q.Done(tr.get(q))
			if i == 4 {
				q.Forget("a")
			}
		}
		q.ShutDown()
		return tr.lines
	}},
	"no limiter": {guarantee.RetriedInTheEnd, func(s side) []string {
		tr := newTranscript()
		for _, c := range []config{{}, {delaying: s.delaying(config{})}} {
			func() {
				q := s.limiting(c)
				defer q.ShutDown()
				defer func() {
					if recover() != nil {
						tr.say("panics")
					}
				}()
				q.AddRateLimited("a")
				tr.get(q)
			}()
		}
		return tr.lines
	}},
}
