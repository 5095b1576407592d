package reflector

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestStopAnywhere stops Run in every state; the scenario checks that it returns.
func TestStopAnywhere(t *testing.T) {
	blocked := func(verb string) func(*world) {
		return func(w *world) {
			listed(w)
			w.server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
				if r.Verb == verb {
					<-ctx.Done()
				}
				return ctx.Err()
			})
		}
	}
	for name, s := range map[string]scenario{
		"listing":         {before: blocked("LIST"), want: firstList},
		"opening a watch": {before: blocked("WATCH"), want: listedA},
		"watching":        {before: listed, want: listedA},
		"streaming": {before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
			want: `WATCH rv=""` + stream},
		"after a failure": {before: func(w *world) { listed(w); w.server.Fail("LIST", forbidden) },
			want: firstList},
		"server is down": {before: func(w *world) { listed(w); w.server.Fail("WATCH", refused) },
			want: listedA},
		"between resyncs": {before: listed, opts: options{resync: time.Hour}, want: listedA},
		"between warnings": {before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
			then: func(w *world) { bubble.Advance(15 * time.Second) }, want: `WATCH rv=""` + stream},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			var w *world
			before := s.before
			s.before = func(inner *world) { w = inner; before(inner) }
			if got := joined(s.play(t, ours)); got != s.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, s.want)
			}
			if h := w.ours.Health(); h.State != Stopped {
				t.Errorf("state %s after the end", h.State)
			}
			for _, err := range w.errs {
				if strings.Contains(err, "context") {
					t.Errorf("the end was reported as an error: %s", err)
				}
			}
		})
	}
}

func TestHealth(t *testing.T) {
	(scenario{
		before: func(w *world) {
			listed(w)
			w.server.Fail("LIST", forbidden, forbidden)
			w.server.Fail("WATCH", refused)
		},
		then: func(w *world) {
			start := time.Now()
			check := func(state State, failures int, last error, synced bool) {
				w.t.Helper()
				h := w.ours.Health()
				if h.State != state || h.Failures != failures || !errors.Is(h.LastError, last) ||
					h.Synced.IsZero() == synced || h.FailingSince.IsZero() != (failures == 0) {
					w.t.Errorf("health %+v, want %s, %d failures, last %v, synced %t", h, state,
						failures, last, synced)
				}
				if failures > 0 && !h.FailingSince.Equal(start) {
					w.t.Errorf("failing since %v, want %v", h.FailingSince, start)
				}
			}
			check(BackingOff, 1, forbidden, false)
			bubble.Advance(1600 * time.Millisecond)
			check(BackingOff, 2, forbidden, false)
			w.advanceUntil(func() bool { return !w.ours.Health().Synced.IsZero() })
			check(BackingOff, 3, refused, true)
			bubble.Advance(backoff)
			check(Watching, 0, refused, true)

			before := time.Now()
			w.create("b")
			bubble.Advance(time.Second)
			w.server.Bookmark()
			w.settle()
			h := w.ours.Health()
			if !h.LastEvent.Equal(before.Add(time.Second)) || !h.LastBookmark.Equal(h.LastEvent) {
				w.t.Errorf("health %+v after an event at %v and a bookmark a second later", h, before)
			}
			if got := w.ours.LastSyncResourceVersion(); got != "102" {
				w.t.Errorf("last version %q", got)
			}
		},
	}).play(t, ours)
}

// TestHealthAfterSilence checks that the health shows a server's silence, and its end.
func TestHealthAfterSilence(t *testing.T) {
	for _, test := range []struct {
		opts   options
		before func(*world)
		want   error
	}{
		{options{initialTimeout: time.Minute}, func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
			errNoEndBookmark},
		{options{silence: time.Minute}, listed, errIdle},
	} {
		(scenario{opts: test.opts, before: test.before, then: func(w *world) {
			if h := w.ours.Health(); h.LastError != nil {
				w.t.Errorf("health %+v within the patience", h)
			}
			bubble.Advance(61 * time.Second)
			if h := w.ours.Health(); h.LastError != test.want || h.Failures != 0 || h.State != Watching {
				w.t.Errorf("health %+v, want %v, overcome", h, test.want)
			}
		}}).play(t, ours)
	}
}

// TestHealthAfterAWatchList checks that the health shows why a list couldn't be streamed, unless the server
// doesn't support watch-lists.
func TestHealthAfterAWatchList(t *testing.T) {
	noStream := apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	noSense := errors.New("no media type that is known")
	for err, want := range map[error]error{noStream: nil, noSense: noSense} {
		(scenario{before: func(w *world) { streamed(w); w.server.Fail("WATCH", err) }, then: func(w *world) {
			if h := w.ours.Health(); h.LastError != want || h.Failures != 0 || h.State != Watching {
				w.t.Errorf("health %+v, want %v, overcome", h, want)
			}
		}}).play(t, ours)
	}
}

// sourceFunc is a source whose watches a function opens, and whose lists are empty.
type sourceFunc func(opts metav1.ListOptions) (watch.Interface, error)

func (f sourceFunc) List(
	_ context.Context, _ metav1.ListOptions, _ sources.Receiver,
) (sources.ListMeta, error) {
	return sources.ListMeta{}, nil
}

func (f sourceFunc) Watch(ctx context.Context, opts metav1.ListOptions) (sources.Stream, error) {
	return f.source().Watch(ctx, opts)
}

func (f sourceFunc) IsWatchListSemanticsUnSupported() bool { return true }

func (f sourceFunc) source() sources.Source {
	return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] {
			return watcher{f}
		}, clientsource.Options{})
}

type watcher struct{ watch sourceFunc }

func (watcher) List(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error) {
	return &corev1.ConfigMapList{}, nil
}
func (w watcher) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return w.watch(opts)
}

// TestVersionsOfInitialEvents checks that a watch without a version, which begins with the existing objects
// in any order, doesn't continue from the versions of those events.
func TestVersionsOfInitialEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := watch.NewRaceFreeFake()
		var updated []string
		r := New(sourceFunc(func(opts metav1.ListOptions) (watch.Interface, error) {
			if opts.ResourceVersion != "" {
				t.Errorf("watch from %q", opts.ResourceVersion)
			}
			return events, nil
		}), sink{&world{t: t, transcript: newTranscript()}}, Options{
			ResourceVersionUpdated: func(v string) { updated = append(updated, v) },
		})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })

		version := func(v string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: v}}
		}
		events.Add(version("30"))
		events.Add(version("20"))
		synctest.Wait()
		if got := r.LastSyncResourceVersion(); got != "" {
			t.Errorf("version %q after initial events", got)
		}
		events.Modify(version("40"))
		events.Add(version("41"))
		synctest.Wait()
		if got := r.LastSyncResourceVersion(); got != "41" {
			t.Errorf("version %q after changes", got)
		}
		if got := fmt.Sprint(updated); got != "[40 41]" {
			t.Errorf("updates %s", got)
		}
		cancel()
		running.Wait()
	})
}

func TestDefaults(t *testing.T) {
	r := New(sourceFunc(nil), sink{}, Options{MinWatchTimeout: time.Second})
	stub := r.ClientGoStub()
	if !strings.Contains(stub.Name(), "reflector_test.go:") {
		t.Errorf("name %q isn't where the reflector was made", stub.Name())
	}
	if stub.TypeDescription() != "<unspecified>" {
		t.Errorf("type description %q", stub.TypeDescription())
	}
	if h := r.Health(); h.State != Idle {
		t.Errorf("state %s", h.State)
	}
	for range 1000 {
		if s := *r.watchTimeout(); s < 300 || s > 600 {
			t.Fatalf("a watch of %d s", s)
		}
	}
	longer := New(sourceFunc(nil), sink{}, Options{MinWatchTimeout: time.Hour})
	if s := *longer.watchTimeout(); s < 3600 || s > 7200 {
		t.Errorf("a watch of %d s", s)
	}
	if fixed := New(
		sourceFunc(nil), sink{}, Options{Backoff: &wait.Backoff{Duration: time.Minute}},
	); fixed.delay() != time.Minute {
		t.Error("the given back-off isn't used")
	}
}

func TestDescribeType(t *testing.T) {
	kind := &unstructured.Unstructured{}
	kind.SetAPIVersion("example.com/v1")
	kind.SetKind("Widget")
	for want, example := range map[string]any{
		"<unspecified>":               nil,
		"*v1.ConfigMap":               &corev1.ConfigMap{},
		"*unstructured.Unstructured":  &unstructured.Unstructured{},
		"example.com/v1, Kind=Widget": kind,
	} {
		if got := DescribeType(example); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHealthOfLists checks since when a list is under way: one that is cut off goes on, and one that
// follows an error is another.
func TestHealthOfLists(t *testing.T) {
	(scenario{
		before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
		then: func(w *world) {
			check := func(when string, since time.Time) {
				w.t.Helper()
				if h := w.ours.Health(); !h.ListingSince.Equal(since) {
					w.t.Errorf("%s: %+v, want a list since %v", when, h, since)
				}
			}
			start := time.Now()
			check("first", start)
			for range 5 {
				bubble.Advance(15 * time.Second)
				w.server.CloseWatches()
			}
			check("cut off", start)
			w.server.OmitEndBookmark(false)
			bubble.Advance(time.Minute)
			w.server.EndInitialEvents()
			w.advanceUntil(func() bool { return w.ours.Health().State == Watching })
			check("after it", time.Time{})
			w.server.OmitEndBookmark(true)
			failed := time.Now()
			w.server.FailWatches(apierrors.NewBadRequest("odd"))
			bubble.Advance(time.Minute)
			if h := w.ours.Health(); !h.ListingSince.After(failed) || h.State != Streaming {
				w.t.Errorf("after an error at %v: %+v", failed, h)
			}
		},
	}).play(t, ours)
}

// TestHealthOfRelists checks since when lists follow each other quickly.
func TestHealthOfRelists(t *testing.T) {
	start := time.Now()
	var h Health
	for _, list := range []struct{ at, since time.Duration }{
		{0, -1}, {time.Minute, -1}, {2 * time.Minute, time.Minute}, {3 * time.Minute, time.Minute},
		{4 * time.Minute, time.Minute},
		{6 * time.Minute, -1}, {8 * time.Minute, -1}, {8*time.Minute + 59*time.Second, 8 * time.Minute},
		{20 * time.Minute, -1},
	} {
		h.addList(start.Add(list.at))
		want := start.Add(list.since)
		if list.since < 0 {
			want = time.Time{}
		}
		if !h.RelistingSince.Equal(want) {
			t.Errorf("after the list at %v: since %v, want %v", list.at, h.RelistingSince, want)
		}
	}
}
