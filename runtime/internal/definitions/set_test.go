package definitions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/definitions/definitionstest"
	"github.com/kubewright/kubewright/runtime/internal/served"
)

var (
	widgets = schema.GroupResource{Group: "example.com", Resource: "widgets"}
	gadgets = schema.GroupResource{Group: "example.com", Resource: "gadgets"}
	others  = schema.GroupResource{Group: "other.example.com", Resource: "others"}
)

// rig is a set over a server in memory.
type rig struct {
	*testing.T
	server *definitionstest.Server
	set    *Set
	ctx    context.Context
	lines  *logged
}

// logged has the lines of logs that are written by default.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) write(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logged) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// inBubble runs a test in a bubble, with a server that knows nothing.
func inBubble(t *testing.T, test func(*rig)) {
	synctest.Test(t, func(t *testing.T) {
		server := definitionstest.New()
		set, err := New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		lines := &logged{}
		logger := funcr.New(lines.write, funcr.Options{})
		test(&rig{t, server, set, klog.NewContext(t.Context(), logger), lines})
	})
}

func (r *rig) open(resource schema.GroupVersionResource) served.Observer {
	observer := r.set.Open(r.ctx, resource)
	r.Cleanup(observer.Close)
	synctest.Wait()
	return observer
}

// want checks the state of a kind once all has come to rest.
func (r *rig) want(observer served.Observer, state served.State) {
	r.Helper()
	synctest.Wait()
	if status, _ := observer.Status(); status.State != state || status.Served != (state == served.Open) {
		r.Fatalf("the kind is %+v, want state %d", status, state)
	}
}

func (r *rig) wantRequests(want ...string) {
	r.Helper()
	synctest.Wait()
	if got := r.server.Requests(); !slices.Equal(got, want) {
		r.Fatalf("requests %q, want %q", got, want)
	}
}

func (r *rig) wantLines(n int) {
	r.Helper()
	if lines := r.lines.take(); len(lines) != n {
		r.Fatalf("%d lines were logged, want %d: %q", len(lines), n, lines)
	}
}

// TestInstallDeleteReinstall follows a kind that is installed, deleted and installed again, with the requests
// and the lines of logs that this takes.
func TestInstallDeleteReinstall(t *testing.T) {
	inBubble(t, func(r *rig) {
		v1 := widgets.WithVersion("v1")
		kind := r.open(v1)
		r.want(kind, served.Absent)
		r.wantLines(1)
		requests := r.server.Requests()
		slices.Sort(requests)
		if got := strings.Join(requests, " "); got != "/apis/example.com/v1 WATCH" {
			t.Errorf("requests %q", got)
		}
		for range 3 {
			_, changed := kind.Status()
			r.server.Define(widgets, "v1")
			r.want(kind, served.Open)
			r.wantRequests("/apis/example.com/v1")
			r.wantLines(1)
			select {
			case <-changed:
			default:
				t.Fatal("the change wasn't announced")
			}
			bubble.Advance(time.Hour)
			if got := r.server.Requests(); slices.Contains(got, "/apis") {
				t.Fatalf("requests %q though all is served", got)
			}
			r.server.Delete(widgets)
			r.want(kind, served.Absent)
			r.wantRequests("/apis/example.com/v1")
			r.wantLines(1)
			bubble.Advance(61 * time.Second)
			r.wantRequests("/apis", "/apis") // It may become one of an aggregated API.
		}
	})
}

// TestServedFromTheStart checks that a kind that is served from the start takes one request for all kinds of
// its version, and no lines of logs.
func TestServedFromTheStart(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.server.Define(widgets, "v1")
		r.server.Define(gadgets, "v1")
		var kinds []served.Observer
		for _, resource := range []schema.GroupResource{widgets, gadgets, widgets} {
			kinds = append(kinds, r.set.Open(r.ctx, resource.WithVersion("v1")))
		}
		for _, kind := range kinds {
			r.want(kind, served.Open)
		}
		r.wantLines(0)
		for _, kind := range kinds {
			kind.Close()
			kind.Close()
		}
		if r.set.running != nil {
			t.Error("it runs without observers")
		}
	})
}

// TestLaggingReplicas checks that GET is repeated when a definition appears before the server serves it, and
// that it takes at most ten requests for a definition that is never served.
func TestLaggingReplicas(t *testing.T) {
	inBubble(t, func(r *rig) {
		kind := r.open(widgets.WithVersion("v1"))
		r.server.Define(widgets) // It isn't served yet.
		r.want(kind, served.Absent)
		bubble.Advance(2 * time.Second)
		r.server.Serve(widgets, "v1")
		bubble.Advance(time.Second)
		r.want(kind, served.Open)

		never := r.open(gadgets.WithVersion("v1"))
		bubble.Advance(time.Minute)
		r.server.Requests()
		r.server.Define(gadgets)
		bubble.Advance(time.Minute)
		asked := 0
		for _, request := range r.server.Requests() {
			if request == "/apis/example.com/v1" {
				asked++
			}
		}
		if asked < 5 || asked > 10 {
			t.Errorf("GET was sent %d times", asked)
		}
		r.want(never, served.Absent)
	})
}

// TestNothingElseMakesAKindAbsent checks that a lone 404, errors, a restart and partial discoveries don't.
func TestNothingElseMakesAKindAbsent(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.server.Define(widgets, "v1")
		r.server.Define(others, "v1")
		kind := r.open(widgets.WithVersion("v1"))
		r.want(kind, served.Open)
		stays := func(what string, times int) {
			t.Helper()
			for range times {
				kind.Missed()
				bubble.Advance(time.Second)
				if status, _ := kind.Status(); status.State != served.Open {
					t.Fatalf("%s: %+v", what, status)
				}
			}
			r.server.Fault(nil)
			bubble.Advance(time.Minute)
			r.want(kind, served.Open)
			if lines := r.lines.take(); len(lines) > 0 {
				t.Errorf("%s: logged %q", what, lines)
			}
		}
		answers := func(status int) {
			r.server.Fault(func(string) int { return status })
		}
		lone := 0
		r.server.Fault(func(path string) int {
			if lone++; lone == 1 && path == "/apis/example.com/v1" {
				return http.StatusNotFound
			}
			return 0
		})
		stays("a lone 404", 30)
		answers(http.StatusNotFound)
		stays("nothing but 404, not even a discovery", 60)
		answers(http.StatusServiceUnavailable)
		r.server.CloseWatches()
		stays("a server that is down", 60)

		r.server.Stale(others.WithVersion("v1").GroupVersion(), true)
		r.server.Serve(widgets)
		for range 120 {
			kind.Missed()
			bubble.Advance(time.Second)
		}
		if status, _ := kind.Status(); status.State != served.Open || status.Err == nil {
			t.Fatalf("a discovery that lacks a group: %+v", status)
		}
		r.server.Stale(others.WithVersion("v1").GroupVersion(), false)
		bubble.Advance(30 * time.Second)
		r.want(kind, served.Absent)
	})
}

// TestUnservedVersion checks that a version that is no longer served is absent after two discoveries, and
// that the versions that are served are known.
func TestUnservedVersion(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.server.Define(widgets, "v1beta1")
		kind := r.open(widgets.WithVersion("v1beta1"))
		r.want(kind, served.Open)
		r.server.Requests()
		r.server.Define(widgets, "v1", "v2")
		bubble.Advance(9 * time.Second)
		if status, _ := kind.Status(); status.State != served.Open {
			t.Fatalf("after 9 s: %+v", status)
		}
		bubble.Advance(2 * time.Second)
		r.want(kind, served.Absent)
		status, _ := kind.Status()
		if slices.Sort(status.Versions); !slices.Equal(status.Versions, []string{"v1", "v2"}) {
			t.Errorf("versions %q", status.Versions)
		}
		err := await(r, widgets.WithVersion("v1beta1"), time.Minute)
		if err == nil || !strings.Contains(err.Error(), "served versions: v") {
			t.Errorf("the error is %v", err)
		}
		r.server.Requests()
		bubble.Advance(time.Hour)
		if got := r.server.Requests(); slices.Contains(got, "/apis") {
			t.Errorf("requests %q though the watch shows a change", got)
		}
		r.server.Define(widgets, "v1beta1", "v1")
		r.want(kind, served.Open)
	})
}

func await(r *rig, resource schema.GroupVersionResource, d time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(r.ctx, d, errors.New("it took too long"))
	defer cancel()
	return r.set.WaitForServed(ctx, resource)
}

func numbered(n int) schema.GroupResource {
	return schema.GroupResource{Group: fmt.Sprintf("g%d.example.com", n), Resource: "widgets"}
}

// TestForbiddenWatch checks that one discovery every 30 seconds replaces a watch that is forbidden, for any
// number of kinds, and that kinds are absent after two of them.
func TestForbiddenWatch(t *testing.T) {
	for _, plain := range []bool{false, true} {
		inBubble(t, func(r *rig) {
			if plain {
				r.server.Plain()
			}
			r.server.ForbidDefinitions()
			var kinds []served.Observer
			for n := range 50 {
				resource := numbered(n)
				kinds = append(kinds, r.open(resource.WithVersion("v1")))
			}
			r.want(kinds[0], served.Unknown)
			if status, _ := kinds[0].Status(); status.Err == nil || status.Failures == 0 {
				t.Errorf("nothing says why: %+v", status)
			}
			bubble.Advance(11 * time.Second)
			r.want(kinds[0], served.Absent)
			bubble.Advance(30 * time.Second)
			if n := len(r.lines.take()); n != 51 {
				t.Errorf("%d lines were logged for 50 kinds and the watch", n)
			}
			r.server.Requests()
			bubble.Advance(120 * time.Second)
			r.wantRequests("/apis", "/apis", "/apis", "/apis")
			for n := range kinds {
				resource := numbered(n)
				r.server.Serve(resource, "v1")
			}
			bubble.Advance(31 * time.Second)
			for _, kind := range kinds {
				r.want(kind, served.Open)
			}
			r.wantLines(50)
			r.server.Serve(numbered(0))
			kinds[0].Missed()
			bubble.Advance(11 * time.Second)
			r.want(kinds[0], served.Absent)
			r.want(kinds[1], served.Open)
		})
	}
}

// TestWatchThatIsAllowedLater checks that the watch is tried again after some minutes.
func TestWatchThatIsAllowedLater(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.server.ForbidDefinitions()
		kind := r.open(widgets.WithVersion("v1"))
		r.server.Fault(nil)
		bubble.Advance(6 * time.Minute)
		r.want(kind, served.Absent)
		r.server.Define(widgets, "v1")
		r.want(kind, served.Open)
	})
}

// TestAggregated checks that a kind without a definition is found by discovery, and that one 404 isn't its
// end.
func TestAggregated(t *testing.T) {
	inBubble(t, func(r *rig) {
		kind := r.open(widgets.WithVersion("v1"))
		r.want(kind, served.Absent)
		r.server.Serve(widgets, "v1")
		bubble.Advance(31 * time.Second)
		r.want(kind, served.Open)
		r.server.Serve(widgets)
		kind.Missed()
		bubble.Advance(9 * time.Second)
		if status, _ := kind.Status(); status.State != served.Open {
			t.Fatalf("after 9 s: %+v", status)
		}
		bubble.Advance(2 * time.Second)
		r.want(kind, served.Absent)
	})
}

// TestMissedDeletion checks that a list without a definition is its deletion.
func TestMissedDeletion(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.server.Define(widgets, "v1")
		kind := r.open(widgets.WithVersion("v1"))
		r.want(kind, served.Open)
		r.server.Fault(func(path string) int {
			if strings.HasPrefix(path, "/apis/apiextensions") {
				return http.StatusInternalServerError
			}
			return 0
		})
		r.server.CloseWatches()
		bubble.Advance(time.Second)
		r.server.Delete(widgets)
		bubble.Advance(time.Minute)
		r.want(kind, served.Open) // Nobody has missed it.
		r.server.Fault(nil)
		bubble.Advance(2 * time.Minute)
		r.want(kind, served.Absent)
	})
}

// TestWaitForServed checks that a wait needs no informer, and ends with its context.
func TestWaitForServed(t *testing.T) {
	inBubble(t, func(r *rig) {
		v1 := widgets.WithVersion("v1")
		if err := await(r, v1, time.Minute); err == nil || !strings.Contains(err.Error(), "it took too long") ||
			!strings.Contains(err.Error(), "absent since") {
			t.Errorf("the error is %v", err)
		}
		var waited sync.WaitGroup
		waited.Go(func() {
			if err := await(r, v1, time.Minute); err != nil {
				t.Error(err)
			}
		})
		bubble.Advance(time.Second)
		r.server.Define(widgets, "v1")
		waited.Wait()
		if r.set.running != nil {
			t.Error("it runs after the wait")
		}
	})
}

func TestInvalidConfiguration(t *testing.T) {
	for _, config := range []*rest.Config{nil, {Host: "http://[::1"}} {
		if _, err := New(config); err == nil {
			t.Errorf("%v is accepted", config)
		}
	}
}

func init() { klog.SetLogger(logr.Discard()) }
