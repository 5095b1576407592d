package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestStatus checks each field.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{
			Gate:    func(item string) bool { return item == "parked" },
			Metrics: newGauges().metrics(),
		})
		if got, want := q.Status(), (queue.Status{Timed: true}); got != want {
			t.Errorf("empty: %+v, want %+v", got, want)
		}
		q.Add("running")
		item, _ := q.Get()
		bubble.Pass(2 * time.Second)
		q.Add("parked")
		q.AddAfter("later", time.Minute)
		q.AddAfter("sooner", 30*time.Second)
		bubble.Pass(3 * time.Second)
		q.Add("ready")
		q.Add(item)
		bubble.Pass(time.Second)
		want := queue.Status{
			Ready: 1, InProcess: 1, Again: 1, Parked: 1, Delayed: 2, NextDue: 26 * time.Second, HandedOut: 1,
			Timed: true, LongestRunning: 6 * time.Second, OldestWaiting: 4 * time.Second,
		}
		if got := q.Status(); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		q.Done(item)
		q.ShutDown()
		want = queue.Status{Ready: 3, HandedOut: 1, Timed: true, OldestWaiting: 4 * time.Second, ShutDown: true}
		if got := q.Status(); got != want {
			t.Errorf("after the shutdown: %+v, want %+v", got, want)
		}
	})
}
