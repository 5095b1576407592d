package informer_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestEvents checks that a loop receives the objects that exist, Synced, and every change.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		i := s.ours(gen.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		var loop sync.WaitGroup
		loop.Go(func() {
			for e := range i.Core().Events(ctx) {
				if e.Type == informer.Synced {
					got = append(got, "synced")
					continue
				}
				got = append(got,
					fmt.Sprintf("%v %s initial=%v missed=%v old=%v", e.Type, describe(e.Object), e.Initial,
						e.Missed, e.Old != nil))
			}
		})
		stop := run(i)
		synctest.Wait()
		s.put("b")
		s.put("b")
		s.remove("a")
		synctest.Wait()
		s.forget(func() { s.remove("b") })
		synctest.Wait()
		bubble.Pass(time.Minute)
		cancel()
		loop.Wait()
		s.put("c")
		synctest.Wait()
		stop()
		if want := []string{
			"Added ns1/a@1 initial=true missed=false old=false",
			"synced",
			"Added ns1/b@2 initial=false missed=false old=false",
			"Updated ns1/b@3 initial=false missed=false old=true",
			"Deleted ns1/a@4 initial=false missed=false old=false",
			"Deleted ns1/b@3 initial=false missed=true old=false",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

// TestBreak checks that a loop ends when its body breaks, even if no more events arrive.
func TestBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		i := s.ours(gen.Options{})
		core := i.Core()
		ctx, cancel := context.WithCancel(t.Context())
		// breaks returns a channel that is closed when a loop has ended at its event n.
		breaks := func(n int) <-chan struct{} {
			broken := make(chan struct{})
			go func() {
				defer close(broken)
				for range core.Events(t.Context()) {
					if n--; n == 0 {
						break
					}
				}
			}()
			return broken
		}
		atAdded, atSynced, atLive := breaks(1), breaks(2), breaks(3)
		synctest.Wait()
		done := make(chan struct{})
		go func() { i.RunWithContext(ctx); close(done) }()
		<-atAdded
		<-atSynced
		synctest.Wait()
		s.put("b")
		<-atLive
		cancel()
		<-done
	})
}

// TestLoopsEnd checks that a loop ends by a break, a panic, the end of its context and the stop of the
// informer, and that its handler is then removed. After the stop a loop has no events.
func TestLoopsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		s.put("b")
		i := s.ours(gen.Options{})
		core := i.Core()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan struct{})
		go func() { i.RunWithContext(ctx); close(done) }()
		<-i.HasSyncedChecker().Done()

		count := 0
		for range core.Events(t.Context()) {
			count++
			break
		}
		func() {
			defer func() {
				if reason := recover(); reason != "mine" {
					t.Errorf("recovered %v", reason)
				}
			}()
			for range core.Events(t.Context()) {
				panic("mine")
			}
		}()
		for range core.Events(canceled()) {
			t.Error("an event after the end of the context")
		}
		if n := len(handlersOf(i)); n != 0 || count != 1 {
			t.Errorf("%d handlers are left, %d events", n, count)
		}
		for e := range core.Events(t.Context()) {
			if e.Type == informer.Synced {
				cancel()
				<-done // Run doesn't wait for loops, since a loop may stop the informer
			}
		}
		for range core.Events(t.Context()) {
			t.Error("an event after the stop")
		}
	})
}

// TestStatusOfLoop checks that a loop is busy only while its body has an event, and that its handler has the
// line of the call of Events.
func TestStatusOfLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		core := i.Core()
		ctx, cancel := context.WithCancel(t.Context())
		gate := make(chan struct{})
		var loop sync.WaitGroup
		_, _, line, _ := runtime.Caller(0)
		events := core.Events(ctx)
		loop.Go(func() {
			for range events {
				<-gate
			}
		})
		expect := func(when string, busy bool, delivered uint64) {
			t.Helper()
			synctest.Wait()
			handlers := i.Status().Handlers
			want := informer.HandlerStatus{Name: "events", At: fmt.Sprintf("events_test.go:%d", line+1),
				Synced: true, Delivered: delivered, Busy: busy}
			if when == "before the start" {
				want.Synced = false
			}
			if len(handlers) != 1 || handlers[0] != want {
				t.Errorf("%s: %+v, want %+v", when, handlers, want)
			}
		}
		expect("before the start", false, 0)
		stop := run(i)
		<-i.HasSyncedChecker().Done()
		expect("at Synced", true, 0)
		gate <- struct{}{}
		expect("without an event", false, 0)
		s.put("a")
		expect("at an event", true, 1)
		gate <- struct{}{}
		expect("after it", false, 1)
		cancel()
		loop.Wait()
		stop()
	})
}
