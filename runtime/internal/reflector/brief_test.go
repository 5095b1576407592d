package reflector

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
)

// TestBriefWatches checks that watches that bring news are reopened at once, as client-go's are, unless ten
// in a row were brief: then the next one waits for a second.
func TestBriefWatches(t *testing.T) {
	(scenario{before: listed, then: func(w *world) {
		w.take()
		// brief closes a watch after a change, and reports whether another one is open.
		brief := func() (again bool) {
			w.server.Update(configMap("a"))
			w.server.CloseWatches()
			w.settle()
			return w.server.Watches() == 1
		}
		for round := range 2 {
			for n := range maxBrief - 1 {
				if !brief() {
					t.Fatalf("round %d: watch %d isn't followed by another at once", round, n+1)
				}
			}
			for n := range 3 {
				if brief() || w.ours.Health().State != BackingOff {
					t.Errorf("round %d: brief watch %d is followed by another at once", round, maxBrief+n)
				}
				bubble.Advance(time.Second)
				if w.server.Watches() != 1 {
					t.Error("there is no watch after a second")
				}
			}
			bubble.Advance(time.Second)
			if w.server.CloseWatches(); w.ours.Health().Failures != 0 {
				t.Errorf("brief watches with news are failures: %+v", w.ours.Health())
			}
			w.settle()
		}
		for _, line := range w.take() {
			if line[:4] == "LIST" {
				t.Errorf("a list after a brief watch with news: %s", line)
			}
		}
	}}).play(t, ours)
}

// TestExpiryIsOrdinary checks that the health shows no failure if the history is gone, whether the server
// says so when a watch is opened, in its first event, or later. If it says so of each watch after a list,
// that is a failure.
func TestExpiryIsOrdinary(t *testing.T) {
	for name, end := range map[string]func(*world){
		"when it is opened": func(w *world) { w.server.Fail("WATCH", expired); w.server.CloseWatches() },
		"while it is open":  func(w *world) { w.server.FailWatches(expired) },
	} {
		for _, after := range []time.Duration{0, time.Minute} {
			t.Run(fmt.Sprint(name, " after ", after), func(t *testing.T) {
				failed := 0
				(scenario{before: listed, then: func(w *world) {
					w.ours.health.onFailure = func(error) { failed++ }
					for range 3 {
						bubble.Advance(time.Minute)
						w.create(fmt.Sprint(time.Now().Unix()))
						bubble.Advance(after)
						end(w)
						w.settle()
						if h := w.ours.Health(); h.Failures != 0 || h.LastError != nil || failed != 0 {
							t.Errorf("health %+v after an expired watch, %d failures", h, failed)
						}
						bubble.Advance(backoff)
					}
				}}).play(t, ours)
			})
		}
	}
	(scenario{before: listed, then: func(w *world) {
		for n := range 4 {
			w.server.FailWatches(expired)
			w.settle()
			if h := w.ours.Health(); (h.Failures > 0) != (n > 0) {
				t.Errorf("health %+v after %d watches that expired at once", h, n+1)
			}
			w.advanceUntil(func() bool { return w.server.Watches() == 1 })
		}
	}}).play(t, ours)
}
