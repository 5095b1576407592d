package optional_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestInstallDeleteReinstall follows an informer from an absent kind to one that is installed, deleted and
// installed again: its cache, its handler, its index, its sync, its requests and what is logged.
func TestInstallDeleteReinstall(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.start()
		r.wantState(optional.Absent, 0)
		r.wantLines(goes)
		if err := informer.WaitForSync(r.ctx, r.informer); err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			bubble.Advance(time.Hour)
			if requests := r.objects.Requests(); len(requests) > 0 {
				t.Fatalf("requests for an absent kind: %v", requests)
			}
			r.create("one")
			r.create("two")
			r.install()
			r.wantState(informer.Watching, 2)
			r.wantLines(comes)
			if found, err := r.informer.GetIndexer().ByIndex("app", "two"); err != nil || len(found) != 1 {
				t.Errorf("the index has %v: %v", found, err)
			}
			r.create("three")
			r.wantState(informer.Watching, 3)
			r.uninstall()
			r.wantState(optional.Absent, 0)
			r.wantLines(goes)
			if _, deleted := r.handler.has(); deleted != 3*(n+1) {
				t.Errorf("the handler received %d deletions", deleted)
			}
			if status := r.status(); status.Since != time.Now() || status.Failures != 0 ||
				status.Lists != n+1 || status.Watches < n+1 || !status.Listed.IsZero() || status.ListItems > 0 {
				t.Errorf("absent since %v, it is %v, installed %d times: %+v", status.Since, time.Now(), n+1, status)
			}
			for _, name := range []string{"one", "two", "three"} {
				r.objects.Delete("shop", name)
			}
			r.objects.ForgetRequests()
		}
	})
}

// TestFirstRequest checks that the first list of a kind that has appeared is of the newest state, and doesn't
// need the server's watch cache. Informers of kinds that are served when they start begin as all others.
func TestFirstRequest(t *testing.T) {
	for _, absent := range []bool{true, false} {
		inBubble(t, func(r *rig) {
			want := "WATCH"
			if absent {
				want = "LIST"
				r.start()
				r.wantState(optional.Absent, 0)
				r.install()
			} else {
				r.install()
				r.start()
			}
			r.wantState(informer.Watching, 0)
			first := r.objects.Requests()[0]
			if first.Verb != want || first.Options.ResourceVersion != "" {
				t.Errorf("the first request is %v, want a %s", first, want)
			}
		})
	}
}

// TestSyncStaysTrue checks that an informer stays synced while it reads the list of a kind that has appeared,
// and that waits for versions don't wait for an absent kind.
func TestSyncStaysTrue(t *testing.T) {
	inBubble(t, func(r *rig) {
		if r.informer.HasSynced() {
			t.Error("synced before the start")
		}
		r.start()
		r.wantState(optional.Absent, 0)
		if err := informer.WaitForVersion(r.ctx, r.informer, "1000"); err != nil {
			t.Errorf("a wait for a version of an absent kind: %v", err)
		}
		answer := make(chan struct{})
		r.objects.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return nil
		})
		r.create("one")
		r.install()
		if s := r.status(); s.State == optional.Absent || s.State == informer.Watching || !s.Synced {
			t.Errorf("while the list is read: %+v", s)
		}
		short, cancel := context.WithTimeout(r.ctx, time.Second)
		defer cancel()
		if err := informer.WaitForVersion(short, r.informer, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait for a version while the list is read: %v", err)
		}
		close(answer)
		r.wantState(informer.Watching, 1)
	})
}

// TestNothingElseEmptiesTheStore checks that lone 404s, a backend that is down, and partial discoveries leave
// the store as it is, and that the informer then fails as without the option.
func TestNothingElseEmptiesTheStore(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.create("one")
		r.install()
		r.start()
		r.wantState(informer.Watching, 1)
		fails := func(what string, objects, all int, d time.Duration) {
			t.Helper()
			r.fault.Store(int32(objects))
			r.definitions.Fault(func(string) int { return all })
			r.objects.CloseWatches()
			r.definitions.CloseWatches()
			for range int(d / time.Second) {
				bubble.Advance(time.Second)
				if s := r.status(); s.Objects != 1 || s.State == optional.Absent {
					t.Fatalf("%s: %+v", what, s)
				}
			}
			if s := r.status(); s.Failures == 0 || s.LastError == nil {
				t.Errorf("%s: the informer doesn't say why: %+v", what, s)
			}
			r.fault.Store(0)
			r.definitions.Fault(nil)
			r.definitions.Serve(widgets, "v1")
			bubble.Advance(2 * time.Minute)
			r.wantState(informer.Watching, 1)
		}
		fails("404 for objects", 404, 0, time.Minute)
		fails("404 for everything", 404, 404, time.Minute)
		fails("503", 503, 503, 5*time.Minute)
		fails("404 and 503", 404, 503, 5*time.Minute)
		others := widgets
		others.Group = "other.example.com"
		r.definitions.Define(others, "v1")
		r.definitions.Stale(others.WithVersion("v1").GroupVersion(), true)
		r.definitions.Serve(widgets)
		fails("404, and discovery lacks a group", 404, 0, 5*time.Minute)
	})
}

// TestRollingRestart checks that replicas that restart one after another, and answer with 404 or 503, empty
// no store.
func TestRollingRestart(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.create("one")
		r.install()
		r.start()
		for n := range 12 {
			status := []int{http.StatusNotFound, http.StatusServiceUnavailable, 0}[n%3]
			r.definitions.Fault(func(string) int { return status })
			r.fault.Store(int32(status))
			r.objects.CloseWatches()
			r.definitions.CloseWatches()
			for range 8 {
				bubble.Advance(time.Second)
				if s := r.status(); s.Objects != 1 {
					t.Fatalf("%+v", s)
				}
			}
		}
		r.definitions.Fault(nil)
		r.fault.Store(0)
		bubble.Advance(2 * time.Minute)
		r.wantState(informer.Watching, 1)
	})
}

// TestUnservedVersion checks that the status and the health of an informer of a version that isn't served
// any more name the versions that are.
func TestUnservedVersion(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.create("one")
		r.install()
		r.start()
		r.wantState(informer.Watching, 1)
		r.definitions.Define(widgets, "v2")
		r.objects.CloseWatches()
		bubble.Advance(time.Second)
		if s := r.status(); s.Objects != 1 || s.Failures == 0 {
			t.Errorf("before it is certain: %+v", s)
		}
		bubble.Advance(11 * time.Second)
		r.wantState(optional.Absent, 0)
		if s := r.status(); !slices.Equal(s.ServedVersions, []string{"v2"}) {
			t.Errorf("the served versions are %q", s.ServedVersions)
		}
		if err := informer.HealthCheck(informer.HealthOptions{Synced: true}, r.informer)(nil); err != nil {
			t.Errorf("an absent kind is unhealthy: %v", err)
		}
		err := informer.HealthCheck(informer.HealthOptions{Served: true}, r.informer)(nil)
		if err == nil || !strings.HasSuffix(err.Error(), "the server serves it as v2") ||
			!strings.Contains(err.Error(), "absent since 2000-01-01") {
			t.Errorf("the error is %v", err)
		}
		r.definitions.Define(widgets, "v1", "v2")
		r.wantState(informer.Watching, 1)
		if s := r.status(); len(s.ServedVersions) > 0 {
			t.Errorf("of a served version: %+v", s)
		}
		if err := informer.HealthCheck(informer.HealthOptions{Served: true}, r.informer)(nil); err != nil {
			t.Errorf("a served kind is unhealthy: %v", err)
		}
	})
}

// TestForbiddenDefinitions checks that two discoveries decide where definitions can't be watched, that
// nothing is requested of the kind until then, and that the wait for the sync isn't given up.
func TestForbiddenDefinitions(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.definitions.ForbidDefinitions()
		r.start()
		s := r.status()
		if s.Synced || s.State != informer.BackingOff || s.LastError == nil {
			t.Errorf("before it is certain: %+v", s)
		}
		if err := informer.WaitForSyncOr(r.ctx, (*informer.SyncError).Permanent, r.informer); err != nil {
			t.Fatal(err)
		}
		r.wantState(optional.Absent, 0)
		if took := time.Since(s.Since); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("it took %v", took)
		}
		if requests := r.objects.Requests(); len(requests) > 0 {
			t.Errorf("requests for an absent kind: %v", requests)
		}
		r.wantLines("CustomResourceDefinitions can't be watched", goes)
		r.create("one")
		r.install()
		bubble.Advance(31 * time.Second)
		r.wantState(informer.Watching, 1)
		r.uninstall()
		bubble.Advance(15 * time.Second)
		r.wantState(optional.Absent, 0)
		r.wantLines(comes, goes)
	})
}

// TestWithoutAnAnswer checks that an informer tries as without the option if nothing tells whether its kind
// is served.
func TestWithoutAnAnswer(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.create("one")
		r.install()
		r.definitions.Fault(func(string) int { return http.StatusForbidden })
		r.start()
		r.wantState(informer.Watching, 1)
		bubble.Advance(time.Hour)
		r.wantState(informer.Watching, 1)
	})
}

// TestStop checks that an informer can be stopped in every state, and that nothing runs afterwards.
func TestStop(t *testing.T) {
	for _, prepare := range []func(*rig){
		func(r *rig) { r.definitions.ForbidDefinitions() }, // unknown
		func(*rig) {},
		(*rig).install,
	} {
		inBubble(t, func(r *rig) {
			prepare(r)
			r.start()
			r.stop()
			if s := r.status(); s.State != informer.Stopped {
				t.Errorf("the state is %s", s.State)
			}
		})
	}
}

// TestWaitForServed checks the wait, and the list that it promises.
func TestWaitForServed(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.start()
		var waited sync.WaitGroup
		waited.Go(func() {
			if err := r.made.WaitForServed(r.ctx, v1); err != nil {
				t.Error(err)
			}
		})
		bubble.Advance(time.Minute)
		r.install()
		waited.Wait()
	})
}

// TestSeveralInformers checks that informers that share a kind log one line, and send one request for it.
func TestSeveralInformers(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.start()
		second := r.another()
		var running sync.WaitGroup
		ctx, cancel := context.WithCancel(r.ctx)
		running.Go(func() { second.RunWithContext(ctx) })
		synctest.Wait()
		if !second.HasSynced() {
			t.Error("the second informer hasn't synced")
		}
		r.definitions.Requests()
		r.wantLines(goes)
		r.install()
		r.wantLines(comes)
		if got := r.definitions.Requests(); !slices.Equal(got, []string{"/apis/example.com/v1"}) {
			t.Errorf("requests %q", got)
		}
		cancel()
		running.Wait()
		r.uninstall()
		r.wantState(optional.Absent, 0)
	})
}

// TestOptionsAreChecked checks what can be found before the start.
func TestOptionsAreChecked(t *testing.T) {
	inBubble(t, func(r *rig) {
		empty := informer.Options{Definitions: &optional.Definitions{}}
		if err := informer.Configure(r.informer, empty); err == nil {
			t.Error("empty Definitions are accepted")
		}
		if _, err := optional.NewDefinitions(nil); err == nil {
			t.Error("a nil configuration is accepted")
		}
		unnamed := r.of(schema.GroupVersionResource{})
		if err := informer.Configure(unnamed, informer.Options{Definitions: r.made}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(r.ctx)
		var running sync.WaitGroup
		running.Go(func() { unnamed.RunWithContext(ctx) })
		synctest.Wait()
		r.wantLines("the informer's resource isn't known")
		cancel()
		running.Wait()
	})
}
