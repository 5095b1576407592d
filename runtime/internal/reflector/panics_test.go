package reflector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// survivePanics makes utilruntime collect panics instead of crashing, until the end of the test. The panics
// may be read only while nothing runs.
func survivePanics(t *testing.T) *[]any {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	panics := new([]any)
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) {
		*panics = append(*panics, p)
	}}
	return panics
}

// TestPanic checks that utilruntime handles a panic, and that the reflector continues if the program
// survives.
func TestPanic(t *testing.T) {
	panics := survivePanics(t)
	s := scenario{
		before: func(w *world) {
			listed(w)
			times := 0
			w.server.OnRequest(func(context.Context, runtimetest.Request) error {
				if times++; times <= 2 {
					panic("ouch")
				}
				return nil
			})
		},
		then: func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
		want: firstList + firstList + listedA,
	}
	if got := joined(s.play(t, ours)); got != s.want {
		t.Errorf("got:\n%s\nwant:\n%s", got, s.want)
	}
	if fmt.Sprint(*panics) != "[ouch ouch]" {
		t.Errorf("panics %v", *panics)
	}
}

// brittle is a sink that panics at its first list.
type brittle struct {
	sink
	panicked *bool
}

func (s brittle) Begin() Staging {
	if !*s.panicked {
		*s.panicked = true
		panic("a sink")
	}
	return s.sink.Begin()
}

// TestPanicEndsTheStream checks that a panic in a sink leaves neither a stream open nor a slot of the limiter
// taken.
func TestPanicEndsTheStream(t *testing.T) {
	survivePanics(t)
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, transcript: newTranscript(),
			server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
		w.create("a")
		ctx, cancel := context.WithCancel(t.Context())
		panicked := false
		r := New(limited(w.server, listwatch.NewLimiter(1)), brittle{sink{w}, &panicked},
			Options{Name: "test", ErrorHandler: w.failed})
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		defer running.Wait()
		defer cancel()
		w.settle()
		if n := w.server.Watches(); n != 0 || !panicked {
			t.Errorf("%d watches are open after a panic (%t)", n, panicked)
		}
		if err := r.Health().LastError; !errors.Is(err, errPanic) {
			t.Errorf("after a panic the last error is %v", err)
		}
		bubble.Advance(backoff)
		if got := joined(w.take()); got != firstA {
			t.Errorf("after the panic: %q", got)
		}
	})
}
