package reflector

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// limited returns a source of a server's objects with a limiter.
func limited(s *server, limiter *listwatch.Limiter) sources.Source {
	return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return s },
		clientsource.Options{Client: s, Limiter: limiter})
}

// halting is a source whose streams wait for a slot of a limiter before each event, as other streams wait for
// the budget.
type halting struct {
	sources.Source
	gate sources.Source
}

type haltingStream struct {
	sources.Stream
	gate sources.Source
}

func (s halting) Watch(ctx context.Context, opts metav1.ListOptions) (sources.Stream, error) {
	stream, err := s.Source.Watch(ctx, opts)
	return haltingStream{stream, s.gate}, err
}

func (s haltingStream) Next(ctx context.Context) (sources.Event, error) {
	if _, err := s.gate.List(ctx, metav1.ListOptions{}, &collected{}); err != nil {
		return sources.Event{}, err
	}
	return s.Stream.Next(ctx)
}

// TestWaitingForOthers checks that a list that waits for other lists, before its request or in the middle,
// shows the wait in the health and in the log. No failure is counted, and the deadline for the initial events
// is paused.
func TestWaitingForOthers(t *testing.T) {
	const timeout = 30 * time.Second
	newServer := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]
	for name, test := range map[string]struct {
		source func(w *world, limiter *listwatch.Limiter) sources.Source
		before string
	}{
		"for a place": {func(w *world, limiter *listwatch.Limiter) sources.Source {
			return limited(w.server, limiter)
		}, ""},
		"in the middle": {func(w *world, limiter *listwatch.Limiter) sources.Source {
			return halting{limited(w.server, nil), limited(newServer(), limiter)}
		}, `WATCH rv=""` + stream},
		"in pages": {func(w *world, limiter *listwatch.Limiter) sources.Source {
			w.server.NoWatchListClient()
			return limited(w.server, limiter)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, transcript: newTranscript(), server: newServer()}
				w.create("a")
				w.server.OmitEndBookmark(true)
				w.server.Observe(func(r runtimetest.Request) { w.add("%s", r) })

				limiter := listwatch.NewLimiter(1)
				other := newServer()
				other.OmitEndBookmark(true)
				initial := true
				first, err := limited(other, limiter).Watch(t.Context(),
					metav1.ListOptions{SendInitialEvents: &initial})
				if err != nil {
					t.Fatal(err)
				}

				var mu sync.Mutex
				var lines []string
				logged := func(what string) (count int) {
					mu.Lock()
					defer mu.Unlock()
					for _, line := range lines {
						if strings.Contains(line, what) {
							count++
						}
					}
					return count
				}
				const waits, silent = "waits for those of other informers", "awaiting required bookmark"
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(),
					funcr.New(func(_, args string) {
						mu.Lock()
						defer mu.Unlock()
						lines = append(lines, args)
					}, funcr.Options{})))
				r := New(test.source(w, limiter), sink{w},
					Options{Name: "test", InitialEventsTimeout: timeout, ErrorHandler: w.failed})
				w.ours = r
				var running sync.WaitGroup
				running.Go(func() { r.Run(ctx) })
				defer running.Wait()
				defer cancel()
				began := time.Now()
				bubble.Advance(2*timeout - time.Second)
				if got := joined(w.take()); got != test.before {
					t.Errorf("while it waits:\n%s", got)
				}
				if h := r.Health(); h.State != Waiting || !h.Since.Equal(began) || !h.ListingSince.Equal(began) ||
					h.Failures != 0 {
					t.Errorf("while it waits: %+v", h)
				}
				if logged(waits) != 1 || logged(silent) != 0 {
					t.Errorf("logged: %q", lines)
				}

				first.Stop()
				w.settle()
				if name == "in pages" {
					if got := joined(w.take()); got != listedA {
						t.Errorf("when the others have ended:\n%s", got)
					}
					return
				}
				if h := r.Health(); h.State != Streaming || !h.Since.Equal(time.Now()) ||
					!h.ListingSince.Equal(time.Now()) {
					t.Errorf("when the others have ended: %+v", h)
				}
				// The delay after this is the server's.
				w.take()
				bubble.Advance(timeout - time.Second)
				if got := joined(w.take()); got != "" || logged(silent) == 0 {
					t.Errorf("before the timeout: %q, logged %q", got, lines)
				}
				bubble.Advance(2 * time.Second)
				if got := joined(w.take()); got != listedA {
					t.Errorf("after the timeout:\n%s", got)
				}
			})
		})
	}
}
