package kwctrl_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// scenario is what happens to a queue, and the guarantee that it is about.
type scenario struct {
	about guarantee.Guarantee
	run   func(*rig)
}

// scenarios are the behaviours that the tests of controller-runtime's package priorityqueue describe, for
// its queue and ours. Two of its tests are in laws_test.go. These are left out, because ours has nothing like
// what they test:
//
//   - the checks of a wrapper around its B-trees, and that no ticker gets a duration of 0
//   - that its log of all items doesn't race with additions
//   - that items are cloned for this log without sharing memory
var scenarios = map[string]scenario{
	"an item is handed out": {guarantee.NoneLost, func(r *rig) {
		r.add(0, "foo")
		r.gets("foo", 0)
		r.counts(1, 0, depth{"0": 0})
	}},
	"items of a priority come in their order": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(0, "foo")
		r.add(0, "bar")
		r.gets("foo", 0)
		r.gets("bar", 0)
		r.counts(2, 0, depth{"0": 0})
	}},
	"an item in process isn't handed out": {guarantee.NoneTwiceAtOnce, func(r *rig) {
		r.add(0, "foo")
		r.gets("foo", 0)
		r.add(0, "foo")
		r.add(0, "bar")
		r.gets("bar", 0)
		r.waits(r.worker())
		r.counts(3, 0, depth{"0": 1})
	}},
	"an item that was added while in process comes in its turn": {guarantee.NewestAfterDone, func(r *rig) {
		r.add(0, "foo")
		r.gets("foo", 0)
		r.add(0, "foo")
		r.add(0, "bar")
		r.gets("bar", 0)
		r.add(0, "baz")
		r.done("foo")
		r.gets("foo", 0)
		r.counts(4, 0, depth{"0": 1})
	}},
	"an item is in the queue once": {guarantee.NoneTwiceAtOnce, func(r *rig) {
		r.add(0, "foo")
		r.add(0, "foo")
		r.len(1)
		r.counts(1, 0, depth{"0": 1})
		r.gets("foo", 0)
		r.len(0)
	}},
	"an item that waits for its Done counts": {guarantee.NewestAfterDone, func(r *rig) {
		r.add(0, "foo")
		r.len(1)
		r.gets("foo", 0)
		r.add(0, "foo")
		r.len(1)
		r.done("foo")
		r.gets("foo", 0)
		r.counts(2, 0, depth{"0": 0})
	}},
	"the highest priority counts": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(1, "foo")
		r.add(2, "foo")
		r.gets("foo", 2)
		r.len(0)
		r.counts(1, 0, depth{"1": 0, "2": 0})
	}},
	"a priority doesn't fall": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(2, "foo")
		r.add(1, "foo")
		r.gets("foo", 2)
		r.len(0)
		r.counts(1, 0, depth{"2": 0})
	}},
	"a raised item comes first": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(0, "foo", "bar", "baz")
		r.add(1, "baz")
		r.gets("baz", 1)
		r.len(2)
		r.counts(3, 0, depth{"0": 2, "1": 0})
	}},
	"a raised item comes behind those of its new priority": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(0, "foo")
		r.add(1, "bar")
		r.add(1, "foo")
		r.len(2)
		r.gets("bar", 1)
		r.len(1)
		r.gets("foo", 1)
		r.len(0)
	}},
	"an item in process can be raised": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(-100, "foo")
		r.gets("foo", -100)
		r.add(-100, "foo")
		r.add(0, "bar")
		r.add(5, "foo")
		r.done("foo")
		r.gets("foo", 5)
		r.counts(3, 0, depth{"-100": 0, "0": 1, "5": 0})
	}},
	"a ready item isn't delayed": {guarantee.NoneLost, func(r *rig) {
		r.addAfter(0, "foo")
		r.addAfter(time.Hour, "foo")
		r.gets("foo", 0)
		r.len(0)
		r.counts(1, 1, depth{"0": 0})
		r.passes(time.Hour)
		r.len(0)
	}},
	"delayed items aren't in Len": {guarantee.NotBeforeItsTime, func(r *rig) {
		r.addAfter(time.Minute, "foo")
		r.add(0, "baz")
		r.addAfter(time.Minute, "bar")
		r.add(0, "bal")
		r.len(2)
		r.counts(2, 2, depth{"0": 2})
	}},
	"nothing is handed out after a shutdown": {guarantee.NoLeak, func(r *rig) {
		r.add(0, "baz")
		r.q.ShutDown()
		r.addAfter(time.Second, "foo")
		r.add(0, "bar")
		for range 2 {
			r.has(r.worker(), handed{shutdown: true})
		}
		if !r.q.ShuttingDown() {
			r.failed("ShuttingDown is false")
		}
		r.q = nil
	}},
	"a shutdown ends the wait": {guarantee.NoneLost, func(r *rig) {
		worker := r.worker()
		r.waits(worker)
		r.q.ShutDown()
		synctest.Wait()
		r.has(worker, handed{shutdown: true})
		r.q = nil
	}},
	"a delayed item can be added at once": {guarantee.NoneLost, func(r *rig) {
		r.addAfter(time.Hour, "foo")
		r.len(0)
		r.counts(0, 1, depth{})
		r.add(0, "foo")
		r.len(1)
		r.counts(1, 1, depth{"0": 1})
		r.gets("foo", 0)
		r.len(0)
		r.counts(1, 1, depth{"0": 0})
		r.done("foo")
		r.passes(time.Hour)
		r.len(0)
	}},
	"a delayed item can be added at once with a higher priority": {guarantee.OrderOfPriorities, func(r *rig) {
		zero := 0
		r.addWith(priorityqueue.AddOpts{After: time.Hour, Priority: &zero}, "foo")
		r.len(0)
		r.counts(0, 1, depth{})
		r.add(1, "foo")
		r.len(1)
		r.counts(1, 1, depth{"1": 1})
		r.gets("foo", 1)
		r.len(0)
		r.counts(1, 1, depth{"1": 0})
	}},
	"a delayed item keeps the higher priority": {guarantee.OrderOfPriorities, func(r *rig) {
		five := 5
		r.addWith(priorityqueue.AddOpts{After: time.Hour, Priority: &five}, "foo")
		r.addAfter(time.Minute, "foo")
		r.passes(time.Minute)
		r.counts(1, 2, depth{"5": 1})
		r.gets("foo", 5)
	}},
	"an item comes when its delay is over": {guarantee.NotBeforeItsTime, func(r *rig) {
		worker := r.worker()
		r.addAfter(time.Second, "foo")
		r.passes(time.Second - 1)
		r.waits(worker)
		r.passes(1)
		r.has(worker, handed{item: "foo"})
		r.counts(1, 1, depth{"0": 0})
	}},
	"a delayed item of a higher priority comes before a ready one": {guarantee.OrderOfPriorities, func(r *rig) {
		r.add(-100, "foo")
		r.addAfter(time.Second, "prio")
		r.passes(time.Second)
		r.gets("prio", 0)
		r.counts(2, 1, depth{"-100": 1, "0": 0})
	}},
	"a worker that waits gets an item at once": {guarantee.NoneLost, func(r *rig) {
		worker := r.worker()
		r.add(0, "foo")
		r.has(worker, handed{item: "foo"})
		r.counts(1, 0, depth{"0": 0})
	}},
	"a worker that waits gets a delayed item that is added at once": {guarantee.NoneLost, func(r *rig) {
		worker := r.worker()
		r.addAfter(time.Minute, "foo")
		r.waits(worker)
		r.add(0, "foo")
		r.has(worker, handed{item: "foo"})
		r.counts(1, 1, depth{"0": 0})
	}},
	"delayed items come in the order of their delays": {guarantee.NotBeforeItsTime, func(r *rig) {
		first := r.worker()
		r.addAfter(time.Second, "foo")
		r.addAfter(200*time.Millisecond, "bar")
		r.waits(first)
		r.passes(200 * time.Millisecond)
		r.has(first, handed{item: "bar"})
		second := r.worker()
		r.waits(second)
		r.passes(800 * time.Millisecond)
		r.has(second, handed{item: "foo"})
		r.counts(2, 2, depth{"0": 0})
	}},
	"an item counts when its delay is over": {guarantee.NotBeforeItsTime, func(r *rig) {
		for round := range 2 {
			adds, retries := float64(4*round), float64(2*round)
			r.addAfter(500*time.Millisecond, "foo")
			r.add(0, "baz")
			r.addAfter(500*time.Millisecond, "bar")
			r.add(0, "bal")
			r.len(2)
			r.counts(adds+2, retries+2, depth{"0": 2})
			r.passes(time.Second)
			r.len(4)
			r.counts(adds+4, retries+2, depth{"0": 4})
			for _, item := range []string{"baz", "bal", "foo", "bar"} {
				r.gets(item, 0)
				r.done(item)
			}
			r.len(0)
			r.counts(adds+4, retries+2, depth{"0": 0})
		}
	}},
	"an item whose delay is over can be added": {guarantee.NoneTwiceAtOnce, func(r *rig) {
		r.addAfter(50*time.Millisecond, "foo")
		r.passes(50 * time.Millisecond)
		for range 2 {
			r.len(1)
			r.counts(1, 1, depth{"0": 1})
			r.add(0, "foo")
		}
		r.gets("foo", 0)
		r.len(0)
		r.counts(1, 1, depth{"0": 0})
	}},
	"items that are limited together have delays of their own": {guarantee.RetriedInTheEnd, func(r *rig) {
		for range 7 {
			r.addWith(priorityqueue.AddOpts{RateLimited: true}, "bar")
			r.addAfter(0, "bar")
			r.gets("bar", 0)
			r.done("bar")
		}
		first := r.worker()
		r.addWith(priorityqueue.AddOpts{RateLimited: true}, "foo", "bar")
		r.waits(first)
		r.passes(5 * time.Millisecond)
		r.has(first, handed{item: "foo"})
		second := r.worker()
		r.passes(635*time.Millisecond - 1)
		r.waits(second)
		r.passes(1)
		r.has(second, handed{item: "bar"})
		r.counts(9, 9, depth{"0": 0})
		if n := r.q.NumRequeues("bar"); n != 8 {
			r.failed("bar has failed %d times", n)
		}
		r.q.Forget("bar")
		if n := r.q.NumRequeues("bar"); n != 0 {
			r.failed("bar has failed %d times since Forget", n)
		}
	}},
	"the shorter of two delays counts": {guarantee.NotBeforeItsTime, func(r *rig) {
		r.addWith(priorityqueue.AddOpts{RateLimited: true, After: time.Hour}, "foo")
		r.addWith(priorityqueue.AddOpts{RateLimited: true, After: time.Millisecond}, "bar")
		r.passes(time.Millisecond)
		r.gets("bar", 0)
		r.len(0)
		r.passes(4 * time.Millisecond)
		r.gets("foo", 0)
	}},
}

func TestScenarios(t *testing.T) {
	for _, s := range sides[string]() {
		t.Run(s.name, func(t *testing.T) {
			for name, scenario := range scenarios {
				t.Run(name, func(t *testing.T) {
					if scenario.about == "" {
						t.Error("it has no guarantee")
					}
					inBubble(t, s, scenario)
				})
			}
		})
	}
}

// inBubble runs a scenario with a new queue, whose name is that of the test.
func inBubble(t *testing.T, s side[string], scenario scenario) {
	synctest.Test(t, func(t *testing.T) {
		limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
		r := &rig{T: t, about: scenario.about, name: t.Name(), q: s.make(t.Name(), limiter)}
		defer func() {
			if r.q != nil { // upstream's queue panics if it is shut down twice
				r.q.ShutDown()
			}
		}()
		scenario.run(r)
	})
}

// TestHigherPrioritiesComeFirst: items of higher priorities come first, whether they were delayed or not.
func TestHigherPrioritiesComeFirst(t *testing.T) {
	const each = 1000
	for _, s := range sides[string]() {
		for _, after := range []time.Duration{-time.Second, 0, time.Second} {
			t.Run(fmt.Sprintf("%s/after=%v", s.name, after), func(t *testing.T) {
				inBubble(t, s, scenario{guarantee.OrderOfPriorities, func(r *rig) {
					empty := depth{}
					for i := range each {
						for _, p := range []int{10, 5, 0, -5, -10} {
							r.q.AddWithOpts(priorityqueue.AddOpts{Priority: &p, After: after}, fmt.Sprintf("%d of %d", i, p))
							empty[fmt.Sprint(p)] = 0
						}
					}
					r.passes(max(after, 0))
					for _, p := range []int{10, 5, 0, -5, -10} {
						for i := range each {
							r.gets(fmt.Sprintf("%d of %d", i, p), p)
						}
					}
					retries := 0.0
					if after > 0 {
						retries = 5 * each
					}
					r.counts(5*each, retries, empty)
				}})
			})
		}
	}
}
