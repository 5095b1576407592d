package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		for _, handler := range []*recorder{{}, {before: func(string) { <-gate }}} {
			must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(handler))
		}
		if got := i.Status(); got.State != informer.Idle || got.Synced || got.Objects != 0 ||
			len(got.Handlers) != 2 {
			t.Errorf("before the start: %+v", got)
		}
		stop := run(i)
		synctest.Wait()
		bubble.Pass(time.Second)
		s.put("b")
		bubble.Pass(time.Second)
		s.bookmark()
		synctest.Wait()
		now := time.Now()
		got := i.Status()
		if got.State != informer.Watching || !got.Synced || got.Objects != 2 || got.Queued != 0 ||
			got.ResourceVersion != "2" || got.Failures != 0 ||
			!got.Listed.Equal(now.Add(-2*time.Second)) || !got.LastEvent.Equal(now) ||
			!got.LastBookmark.Equal(now) || got.Name != "informer of *v1.ConfigMap" {
			t.Errorf("watching: %+v", got)
		}
		if got.Lists != 1 || got.Watches != 1 || got.Relisted != nil {
			t.Errorf("%d lists, %d watches, relisted because of %v", got.Lists, got.Watches, got.Relisted)
		}
		if free, blocked := got.Handlers[0], got.Handlers[1]; !free.Synced || free.Backlog != 0 || free.Busy ||
			blocked.Synced || blocked.Backlog != 1 || !blocked.Busy || blocked.Delivered+1 != free.Delivered {
			t.Errorf("handlers: %+v", got.Handlers)
		}
		close(gate)
		stop()
		if got, ok := informer.StatusOf(i); !ok || got.State != informer.Stopped || got.Objects != 2 {
			t.Errorf("stopped: %+v, %v", got, ok)
		}
		theirs := s.theirs(gen.Options{})
		if got, ok := informer.StatusOf(theirs); ok || got.Synced ||
			!strings.Contains(got.Name, "ConfigMap") {
			t.Errorf("client-go's: %+v, %v", got, ok)
		}
	})
}

// TestStatusOfRequests checks that a status says what is requested, dropped and indexed.
func TestStatusOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		tweak := func(o *metav1.ListOptions) { o.LabelSelector, o.FieldSelector = "a=b", "metadata.name=c" }
		nothing := func(any) ([]string, error) { return nil, nil }
		i := gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{
				Namespace: "ns", TweakListOptions: tweak, Indexers: cache.Indexers{"size": nothing, "colour": nothing},
			})
		dropped := []string{"metadata.managedFields"}
		if err := informer.Configure(i, informer.Options{Drop: dropped}); err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		defer stop()
		synctest.Wait()
		got, _ := informer.StatusOf(i)
		if got.Namespace != "ns" || got.LabelSelector != "a=b" || got.FieldSelector != "metadata.name=c" ||
			!slices.Equal(got.Dropped, dropped) || !slices.Equal(got.Indexes, []string{"colour", "size"}) {
			t.Errorf("%+v", got)
		}
	})
}

// TestStatusAfterRelist checks that a status says how often, how long and why an informer has listed.
func TestStatusAfterRelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		i := gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{})
		stop := run(i)
		defer stop()
		synctest.Wait()
		server.OnRequest(func(context.Context, runtimetest.Request) error {
			bubble.Pass(time.Second)
			return nil
		})
		server.FailWatches(apierrors.NewResourceExpired("too old"))
		bubble.Pass(time.Minute)
		got, _ := informer.StatusOf(i)
		if got.Lists != 2 || got.Watches < 2 || got.ListTook < time.Second || got.ListTook > 10*time.Second ||
			got.Relisted == nil || !strings.Contains(got.Relisted.Error(), "too old") {
			t.Errorf("%d lists, %d watches, the last list took %v, because of %v", got.Lists, got.Watches,
				got.ListTook, got.Relisted)
		}
		if r := got.RecentLists; !r[0].IsZero() || r[1].IsZero() || !r[2].Equal(got.Listed) || !r[1].Before(r[2]) {
			t.Errorf("lists at %v, the last at %v", r, got.Listed)
		}
	})
}

// TestWhyNotSynced checks that the error of a wait describes what is wrong with each informer.
func TestWhyNotSynced(t *testing.T) {
	for _, test := range []struct {
		err       error
		reason    string
		permanent bool
		text      string
	}{
		{apierrors.NewForbidden(configMaps, "", errors.New("no")), "forbidden", true, "forbidden since"},
		{apierrors.NewUnauthorized("who?"), "unauthorized", true, "who?"},
		{apierrors.NewNotFound(configMaps, ""), "not served", true, "its CustomResourceDefinition"},
		{apierrors.NewTooManyRequests("later", 1), "throttled", false, "later"},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, "unreachable", false, "refused"},
		{&listwatch.DecodingError{Field: "spec"}, "undecodable", false, "field spec"},
		{&listwatch.DecodingError{Status: 502, Err: errors.New("a page")}, "unreachable", false, "status 502"},
		{errors.New("odd"), "failed", false, "odd"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failing, fine := newServer(), newServer()
				failing.fail = test.err
				i, other := failing.ours(gen.Options{}), fine.ours(gen.Options{})
				start := time.Now()
				defer run(i)()
				defer run(other)()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := informer.WaitForSync(ctx, i, other)
				var all *informer.NotSyncedError
				if !errors.As(err, &all) || len(all.Informers) != 1 ||
					!errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, test.err) {
					t.Fatalf("error %v", err)
				}
				e := all.Informers[0]
				if e.Reason != test.reason || e.Permanent() != test.permanent ||
					e.State != informer.BackingOff || !e.Since.Equal(start) || e.Attempts < 3 ||
					!strings.Contains(err.Error(), test.reason) || !strings.Contains(err.Error(), test.text) ||
					strings.Contains(err.Error(), "CustomResource") != (test.reason == "not served") {
					t.Errorf("error %#v: %v", e, err)
				}
			})
		})
	}
}

// TestWaitingIsNoFailure checks that an informer that waits for its limiter doesn't count as failing.
func TestWaitingIsNoFailure(t *testing.T) {
	waiting := informer.Status{State: informer.Waiting}
	if e := waiting.NotSynced(); e.Reason != "waiting for the lists of other informers" || e.Err != nil {
		t.Errorf("%v", e)
	}
	waiting.Failures, waiting.LastError = 1, errors.New("odd")
	if e := waiting.NotSynced(); e.Reason != "failed" {
		t.Errorf("%v", e)
	}
}

// TestNotStartedIsTold checks that a wait for an informer which isn't started logs that, once.
func TestNotStartedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		logger := funcr.New(
			func(_, line string) { told = append(told, fmt.Sprint(time.Now().Second(), line)) },
			funcr.Options{})
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logger), 50*time.Second)
		defer cancel()
		start := time.Now().Second()
		started, forgotten := newServer().ours(gen.Options{}), newServer().ours(gen.Options{})
		defer run(started)()
		if err := informer.WaitForSync(ctx, started, forgotten); err == nil {
			t.Error("an informer that was not started has synced")
		}
		if len(told) != 1 || !strings.HasPrefix(told[0], fmt.Sprint((start+10)%60)) ||
			strings.Count(told[0], "not started") != 1 {
			t.Errorf("the log has %q", told)
		}
	})
}

// TestHandlersAreToldApart checks that a status says where handlers were added, unless they have names of
// their own.
func TestHandlersAreToldApart(t *testing.T) {
	i := newServer().ours(gen.Options{})
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}}
	add := must[cache.ResourceEventHandlerRegistration](t)
	_, _, line, _ := runtime.Caller(0)
	add(i.AddEventHandler(handler))
	add(i.AddEventHandlerWithResyncPeriod(handler, time.Minute))
	add(informer.AddEventHandler(i, handler, informer.HandlerOptions{Name: "baker"}))
	add(i.Core().AddEventHandler(cache.TypedResourceEventHandlerFuncs[*configMap]{}, informer.HandlerOptions{}))
	var got []string
	for _, h := range i.Status().Handlers {
		got = append(got, h.Name+" "+h.At)
	}
	const here = "github.com/kubewright/kubewright/runtime/informer_test.TestHandlersAreToldApart"
	want := []string{
		fmt.Sprintf("%s status_test.go:%d", here, line+1), fmt.Sprintf("%s status_test.go:%d", here, line+2),
		"baker ", fmt.Sprintf("*cache.TypedResourceEventHandlerFuncs status_test.go:%d", line+4),
	}
	if !slices.Equal(got[:3], want[:3]) || !strings.HasSuffix(got[3], fmt.Sprintf("status_test.go:%d", line+4)) {
		t.Errorf("the handlers are %q, want %q", got, want)
	}
}

// TestGiveUp checks that a permanent error ends the wait at the first failure.
func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forbidden, fine := newServer(), newServer()
		forbidden.fail = apierrors.NewForbidden(configMaps, "", errors.New("no"))
		fine.gate = make(chan struct{})
		i, other := forbidden.ours(gen.Options{}), fine.ours(gen.Options{})
		defer run(i)()
		defer run(other)()
		start := time.Now()
		err := informer.WaitForSyncOr(t.Context(), (*informer.SyncError).Permanent, i, other)
		var all *informer.NotSyncedError
		if !errors.As(err, &all) || len(all.Informers) != 2 || all.Cause != nil || time.Since(start) != 0 {
			t.Fatalf("after %v: %v", time.Since(start), err)
		}
		close(fine.gate)
		if err := informer.WaitForSync(t.Context(), other); err != nil {
			t.Error(err)
		}
		if err := informer.WaitForSync(canceled(), other, fine.theirs(gen.Options{})); err == nil {
			t.Error("client-go's informer does not run, and has synced")
		}
	})
}

// TestWaitingDoesNotPoll checks that no timer runs while informers sync.
func TestWaitingDoesNotPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.gate = make(chan struct{})
		i := s.ours(gen.Options{})
		stop := run(i)
		waited := make(chan error)
		go func() { waited <- informer.WaitForSync(t.Context(), i) }()
		bubble.Pass(time.Hour)
		released := time.Now()
		close(s.gate)
		if err := <-waited; err != nil || !time.Now().Equal(released) {
			t.Errorf("error %v after %v", err, time.Since(released))
		}
		stop()
	})
}

func TestStoppedBeforeSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.gate = make(chan struct{})
		i := s.ours(gen.Options{})
		if err := informer.WaitForSync(canceled(), i); err == nil ||
			!strings.Contains(err.Error(), "not started") {
			t.Errorf("error %v", err)
		}
		stop := run(i)
		waited := make(chan error)
		go func() { waited <- informer.WaitForSync(t.Context(), i) }()
		synctest.Wait()
		stop()
		if err := <-waited; err == nil || !strings.Contains(err.Error(), "stopped") {
			t.Errorf("error %v", err)
		}
	})
}

// TestCauseOutlivesTheStop checks that the error of a wait whose context ends with the informer's gives the
// reason why the informer hasn't synced.
func TestCauseOutlivesTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.fail = apierrors.NewForbidden(configMaps, "", errors.New("no"))
		i := s.ours(gen.Options{})
		stop := run(i)
		synctest.Wait()
		stop()
		err := informer.WaitForSync(canceled(), i)
		var all *informer.NotSyncedError
		if !errors.As(err, &all) || len(all.Informers) != 1 || all.Informers[0].Reason != "forbidden" ||
			all.Informers[0].State != informer.Stopped || !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
		if !strings.Contains(err.Error(), ": forbidden since ") ||
			!strings.Contains(err.Error(), "(attempt 1, has stopped)") {
			t.Errorf("error %v", err)
		}
	})
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestHealthCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.gate = make(chan struct{})
		i := s.ours(gen.Options{})
		gate := make(chan struct{})
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{before: func(string) {
			<-gate
		}}))
		live := informer.HealthCheck(informer.HealthOptions{SilentFor: 5 * time.Minute, Backlog: 2}, i)
		ready := informer.HealthCheck(informer.HealthOptions{Synced: true}, i)
		check := func(when, notReady, notLive string) {
			t.Helper()
			synctest.Wait()
			for _, c := range []struct {
				name string
				err  error
				want string
			}{{"ready", ready(nil), notReady}, {"live", live(nil), notLive}} {
				if (c.err == nil) != (c.want == "") ||
					c.err != nil && !strings.Contains(c.err.Error(), c.want) {
					t.Errorf("%s: %s: error %v, want %q", when, c.name, c.err, c.want)
				}
			}
		}
		stop := run(i)
		check("before the list", "pending", "")
		close(s.gate)
		check("synced", "", "")
		for _, name := range []string{"a", "b", "c"} {
			s.put(name)
		}
		check("within the backlog", "", "")
		s.put("d")
		check("behind", "", "3 notifications")
		close(gate)
		bubble.Pass(6 * time.Minute)
		check("silent", "", "nothing arrived")
		s.mu.Lock()
		s.fail = apierrors.NewForbidden(configMaps, "", errors.New("no"))
		s.mu.Unlock()
		s.expire()
		bubble.Pass(50 * time.Second)
		check("failing", "", "")
		bubble.Pass(20 * time.Second)
		check("failing for a while", "forbidden", "forbidden")
		stop()
		check("stopped", "stopped", "stopped")
	})
}
