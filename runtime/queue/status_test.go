package queue_test

import (
	"errors"
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
			RunningItem: "running",
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

// TestFailing checks that an item which fails twelve times in a row is reported until it succeeds, in
// whatever way it is added again.
func TestFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		for name, again := range map[string]func(){
			"AddRateLimited": func() { q.AddRateLimited("bad") },
			"AddWith":        func() { q.AddWith("bad", queue.AddOptions{RateLimited: true}) },
			"When":           func() { q.AddAfter("bad", q.When("bad")) },
		} {
			for n := range 13 {
				if s := q.Status(); (s.Failing > 0) != (n >= 12) {
					t.Errorf("%s: after %d failures: %+v", name, n, s)
				}
				again()
			}
			q.AddRateLimited("good")
			bubble.Pass(time.Minute)
			if s := q.Status(); s.Failing != 1 || s.FailingItem != "bad" || s.FailingFor != time.Minute {
				t.Errorf("%s: after a minute: %+v", name, s)
			}
			q.Forget("bad")
			q.Forget("good")
			if s := q.Status(); s.Failing != 0 || s.FailingItem != nil || s.FailingFor != 0 {
				t.Errorf("%s: after a success: %+v", name, s)
			}
		}
	})
}

// TestGivenUpIsNoFailure gives an item up without Forget, as controller-runtime does after a TerminalError:
// it is no longer reported, until it fails again.
func TestGivenUpIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		failing := func(when string, want int) {
			t.Helper()
			if s := q.Status(); s.Failing != want || (s.FailingItem != nil) != (want > 0) {
				t.Errorf("%s: %+v, want %d", when, s, want)
			}
		}
		for range 12 {
			q.AddRateLimited("bad")
			q.Get()
			failing("in process", min(q.NumRequeues("bad")/12, 1))
			q.Done("bad")
		}
		failing("given up", 0)
		q.AddRateLimited("bad")
		failing("after another failure", 1)
	})
}

// TestSuccessIsNoFailure has an item ask for another run with a delay of the limiter, as controller-runtime's
// Result with Requeue does: only the errors since then count as failures.
func TestSuccessIsNoFailure(t *testing.T) {
	q := queue.New(queue.Config[string]{})
	defer q.ShutDown()
	q.Keep()
	again := func(times int, err error) {
		for range times {
			q.NoteError("a", err)
			q.AddRateLimited("a")
		}
	}
	failing := func(when string, want int) {
		t.Helper()
		if s := q.Status(); s.Failing != want {
			t.Errorf("%s, %d items fail, want %d", when, s.Failing, want)
		}
	}
	again(20, nil)
	failing("after successes", 0)
	if q.Kept("a") {
		t.Error("the line of an item that has succeeded is kept")
	}
	again(11, errors.New("no flour"))
	failing("after successes and 11 errors", 0)
	again(1, errors.New("no flour"))
	failing("after 12 errors", 1)
	again(1, nil)
	failing("after a success again", 0)
	q.Forget("a")
	again(12, errors.New("no flour"))
	failing("after Forget and 12 errors", 1)
}

// TestReleaseLate checks that items which were held back for too long are counted, and since when there are
// such items without a pause of more than ten minutes.
func TestReleaseLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{Gate: func(string) bool { return true }})
		defer q.ShutDown()
		q.Add("a")
		if q.ReleaseLate("b", "the wrong one") || !q.ReleaseLate("a", "a cause") {
			t.Error("the wrong item was released")
		}
		if s := q.Status(); s.Late != 1 || s.LateCause != "a cause" || s.Ready != 1 || s.Parked != 0 {
			t.Errorf("%+v", s)
		}
		late := func(item string, n uint64, first time.Duration) {
			t.Helper()
			q.Add(item)
			q.ReleaseLate(item, "a cause")
			bubble.Pass(time.Second)
			s := q.Status()
			if s.Late != n || s.LateItem != item || s.LateAgo != time.Second || s.FirstLateAgo != first {
				t.Errorf("%+v", s)
			}
		}
		bubble.Pass(10 * time.Minute)
		late("b", 2, 10*time.Minute+time.Second)
		bubble.Pass(10 * time.Minute)
		late("c", 3, time.Second)
	})
}
