package informer_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// TestBacklog blocks one handler, and checks that another one continues and that the backlog is the number of
// calls that the blocked handler has yet to receive.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		gate := make(chan struct{})
		blocked := &recorder{before: func(string) { <-gate }}
		free := &recorder{}
		backlogs := map[*recorder]func() int{}
		for _, handler := range []*recorder{blocked, free} {
			r, err := i.AddEventHandler(handler)
			if err != nil {
				t.Fatal(err)
			}
			backlogs[handler] = r.(interface{ Backlog() int }).Backlog
		}
		stop := run(i)
		const changes = 1500
		for n := range changes {
			s.put(strconv.Itoa(n))
		}
		synctest.Wait()
		if n := len(free.take()); n != changes {
			t.Errorf("the free handler was called %d times", n)
		}
		if n := backlogs[free](); n != 0 {
			t.Errorf("the free handler's backlog is %d", n)
		}
		for called := range 3 {
			// One call is active.
			if n := backlogs[blocked](); n != changes-called-1 {
				t.Errorf("after %d calls the backlog is %d", called, n)
			}
			gate <- struct{}{}
			synctest.Wait()
		}
		late := &recorder{before: func(string) { <-gate }}
		r, err := i.AddEventHandler(late)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.put("one more")
		synctest.Wait()
		if n := r.(interface{ Backlog() int }).Backlog(); n != changes {
			t.Errorf("a late handler's backlog is %d", n)
		}
		close(gate)
		synctest.Wait()
		if n := len(late.take()); n != changes+1 {
			t.Errorf("the late handler was called %d times", n)
		}
		stop()
	})
}

// TestStopDropsTheBacklog checks that a stop waits only for the call that is active.
func TestStopDropsTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		handler := &recorder{before: func(string) { bubble.Pass(time.Second) }}
		if _, err := i.AddEventHandler(handler); err != nil {
			t.Fatal(err)
		}
		for n := range 10 {
			s.put(strconv.Itoa(n))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		i.RunWithContext(ctx)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("Run returned after %v", took)
		}
		if n := len(handler.take()); n != 3 {
			t.Errorf("%d calls", n)
		}
	})
}
