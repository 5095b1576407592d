package eyes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// rig is an informer of an API server in memory, a queue, and the eyes on both.
type rig struct {
	*testing.T
	eyes     *eyes.Eyes
	server   *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	informer cache.SharedIndexInformer
	queue    *queue.Queue[string]
}

func newRig(t *testing.T) *rig {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	r := &rig{
		T: t, eyes: eyes.New(eyes.Options{}), server: server, queue: queue.New(queue.Config[string]{}),
		informer: gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return server },
			gen.Options{Resource: corev1.SchemeGroupVersion.WithResource("configmaps")}),
	}
	t.Cleanup(r.queue.ShutDown)
	r.eyes.AddInformer("shop", r.informer)
	r.eyes.AddQueue("bakeries", r.queue)
	return r
}

func (r *rig) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { r.informer.RunWithContext(ctx) })
	synctest.Wait()
	stop = func() {
		cancel()
		running.Wait()
	}
	r.Cleanup(stop)
	return stop
}

// fail makes the server answer all requests with an error.
func (r *rig) fail(err error) {
	r.server.OnRequest(func(context.Context, runtimetest.Request) error { return err })
}

func (r *rig) handle(f func()) {
	r.Helper()
	_, err := informer.AddEventHandler(r.informer, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { f() }},
		informer.HandlerOptions{Name: "baker", ContainPanics: true})
	if err != nil {
		r.Fatal(err)
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// TestFindings plants one fault at a time between two looks, and checks that the second names it, and nothing
// else.
func TestFindings(t *testing.T) {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	for name, test := range map[string]struct {
		// fault is planted before the first look. later is called between both, wait after each.
		fault, later func(r *rig)
		wait         time.Duration
		// kind is that of the finding, "" for none, and texts are in it.
		kind  string
		texts []string
	}{
		"a start":   {fault: func(r *rig) { r.start() }, wait: 10 * time.Second},
		"a standby": {fault: func(r *rig) { r.queue.Add("ns/a") }, wait: time.Hour},
		"an empty collection": {fault: func(r *rig) { r.start() }, later: func(r *rig) { r.server.Bookmark() },
			wait: time.Minute},
		"forbidden": {
			fault: func(r *rig) {
				r.fail(apierrors.NewForbidden(configMaps, "", errors.New("no role")))
				r.start()
			},
			wait: 15 * time.Second, kind: "cannot list",
			texts: []string{"v1 configmaps", "shop", "forbidden", "no role", "since 2000-01-01T00:00:00Z"},
		},
		"an object that can't be decoded": {
			fault: func(r *rig) {
				r.fail(&listwatch.DecodingError{Namespace: "ns", Name: "secret", Field: "spec.size",
					Value: "string", Type: "int"})
				r.start()
			},
			wait: 15 * time.Second, kind: "cannot list", texts: []string{"spec.size", "a Go value of type int"},
		},
		"silence": {
			fault: func(r *rig) { r.start(); r.server.Bookmark(); synctest.Wait() }, wait: 2 * time.Minute,
			kind: "silent watch", texts: []string{"v1 configmaps", "since 2000-01-01T00:00:00Z"},
		},
		"an idle watch of a server that sends no bookmarks": {
			fault: func(r *rig) { r.start() }, wait: time.Hour,
		},
		"an idle watch after one with bookmarks": {
			fault: func(r *rig) { r.start(); r.server.Bookmark(); synctest.Wait(); r.server.CloseWatches() },
			wait:  time.Hour,
		},
		"silence after a failure": {
			fault: func(r *rig) {
				r.start()
				r.server.Bookmark()
				synctest.Wait()
				r.server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
					<-ctx.Done()
					return ctx.Err()
				})
				r.server.FailWatches(apierrors.NewTooManyRequests("later", 1))
			},
			wait: 3 * time.Minute, kind: "silent watch", texts: []string{"Watching", "throttled"},
		},
		"a list that never ends": {
			fault: func(r *rig) {
				r.server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
					<-ctx.Done()
					return ctx.Err()
				})
				r.start()
			},
			wait: 40 * time.Second, kind: "never synced", texts: []string{"without an error"},
		},
		"a stream that is cut before its end, again and again": {
			fault: func(r *rig) { r.server.OmitEndBookmark(true); r.start() },
			later: func(r *rig) {
				for range 4 {
					bubble.Advance(15 * time.Second)
					r.server.CloseWatches()
				}
			},
			wait: 10 * time.Second, kind: "never synced",
			texts: []string{"without an error, since 2000-01-01T00:00:00Z"},
		},
		"a relist that never ends": {
			fault: func(r *rig) {
				r.start()
				r.server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
					<-ctx.Done()
					return ctx.Err()
				})
				r.server.FailWatches(apierrors.NewResourceExpired("too old"))
			},
			wait: 100 * time.Second, kind: "list hangs",
			texts: []string{"in state Streaming, without an error", "cache lacks what that list brings",
				"because of: too old",
				"since 2000-01-01T00:00:0"},
		},
		"relists": {
			fault: func(r *rig) { r.start() },
			later: func(r *rig) {
				for range 5 {
					r.server.FailWatches(apierrors.NewResourceExpired("too old"))
					bubble.Advance(5 * time.Second)
				}
			},
			wait: 10 * time.Second, kind: "relists too often",
			texts: []string{" lists, three of them in the last ", "too old", ", since 2000-01-01T00:00:"},
		},
		"relists between looks that are far apart": {
			fault: func(r *rig) { r.start() },
			later: func(r *rig) {
				for range 100 {
					r.server.FailWatches(apierrors.NewResourceExpired("too old"))
					bubble.Advance(15 * time.Second)
				}
			},
			wait: time.Second, kind: "relists too often",
			texts: []string{" lists, three of them in the last ", "too old", ", since 2000-01-01T00:00:"},
		},
		"relists that are over": {
			fault: func(r *rig) { r.start() },
			later: func(r *rig) {
				for range 5 {
					r.server.FailWatches(apierrors.NewResourceExpired("too old"))
					bubble.Advance(5 * time.Second)
				}
				bubble.Pass(2 * time.Minute)
				r.server.Bookmark()
			},
			wait: 2 * time.Minute,
		},
		"a server that was down": {
			fault: func(r *rig) { r.start(); r.server.Bookmark(); synctest.Wait() },
			later: func(r *rig) {
				r.fail(syscall.ECONNREFUSED)
				r.server.CloseWatches()
				bubble.Pass(10 * time.Minute)
				r.fail(nil)
			},
			wait: 90 * time.Second,
		},
		"a handler that hangs": {
			fault: hang,
			wait:  20 * time.Second, kind: "handler hangs",
			texts: []string{"baker", "1 more wait", ", since 2000-01-01T00:00:20Z or earlier"},
		},
		"a handler that hangs while others come and go": {
			fault: hang,
			later: func(r *rig) { r.another("ringer"); r.another("ringer") },
			wait:  20 * time.Second, kind: "handler hangs", texts: []string{"baker"},
		},
		"a handler that is slow": {
			fault: func(r *rig) {
				r.handle(func() { bubble.Pass(5 * time.Second) })
				r.start()
				for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
					r.server.Create(configMap(name))
				}
			},
			wait: 11 * time.Second,
		},
		"a handler that panics": {
			fault: func(r *rig) { r.handle(func() { panic("odd") }); r.start() },
			later: func(r *rig) { r.server.Create(configMap("a")); synctest.Wait() },
			wait:  11 * time.Second, kind: "handler panics",
			texts: []string{"baker", "it panicked 1 time in all, the last 11s ago, since 2000-01-01T00:00:11Z"},
		},
		"a handler that panics now and then": {
			fault: func(r *rig) { r.handle(func() { panic("odd") }); r.start() },
			later: func(r *rig) {
				r.server.Create(configMap("long ago"))
				bubble.Pass(30 * time.Minute)
				r.server.Create(configMap("a"))
				bubble.Pass(10 * time.Minute)
				r.server.Create(configMap("b"))
				bubble.Pass(8 * time.Minute)
				r.server.Bookmark()
			},
			wait: 119 * time.Second, kind: "handler panics",
			texts: []string{"it panicked 3 times in all, the last 9m59s ago, since 2000-01-01T00:31:59Z"},
		},
		"a handler that panicked long ago": {
			fault: func(r *rig) { r.handle(func() { panic("odd") }); r.start() },
			later: func(r *rig) {
				r.server.Create(configMap("a"))
				bubble.Pass(9 * time.Minute)
				r.server.Bookmark()
			},
			wait: time.Minute,
		},
		"no worker": {
			fault: func(r *rig) { r.lack() }, wait: 11 * time.Second,
			kind: "no worker", texts: []string{"bakeries", "1 item is ready"},
		},
		"no progress": {
			fault: func(r *rig) { r.queue.Add("ns/a"); r.queue.Add("ns/b"); r.queue.Get() },
			wait:  2 * time.Minute, kind: "no progress", texts: []string{"bakeries"},
		},
		"one worker that is slow": {
			fault: func(r *rig) { r.queue.Add("ns/a"); r.queue.Add("ns/b"); r.queue.Get() },
			wait:  time.Minute,
		},
		"progress": {
			fault: func(r *rig) { r.queue.Add("ns/a"); r.queue.Add("ns/b") },
			later: func(r *rig) { r.queue.Get() }, wait: 11 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				if test.fault != nil {
					test.fault(r)
				}
				bubble.Pass(test.wait)
				r.eyes.Snapshot()
				if test.later != nil {
					test.later(r)
				}
				bubble.Pass(test.wait)
				s := r.eyes.Snapshot()
				var text strings.Builder
				if err := s.WriteText(&text); err != nil {
					t.Fatal(err)
				}
				if test.kind == "" {
					if len(s.Findings) > 0 {
						t.Errorf("found %v", s.Findings)
					}
					return
				}
				if len(s.Findings) != 1 || s.Findings[0].Kind != test.kind {
					t.Fatalf("found %v, want %s", s.Findings, test.kind)
				}
				for _, part := range append(test.texts, test.kind) {
					if !strings.Contains(text.String(), part) {
						t.Errorf("%q lacks %q", s.Findings[0], part)
					}
				}
				if strings.Contains(text.String(), "secret") {
					t.Errorf("the name of an object is shown:\n%s", &text)
				}
			})
		})
	}
}

// statusFunc is a queue, and statusesFunc are caches.
type (
	statusFunc   func() queue.Status
	statusesFunc func() []informer.Status
)

func (f statusFunc) Status() queue.Status          { return f() }
func (f statusesFunc) Statuses() []informer.Status { return f() }

// TestKeys checks the findings about single objects, and that their names are shown with Keys only.
func TestKeys(t *testing.T) {
	for _, keys := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := eyes.New(eyes.Options{Keys: keys})
			fine := &informer.Status{Name: "informer of ovens", State: informer.Watching, Synced: true}
			q := &queue.Status{}
			e.AddCaches("a", statusesFunc(func() []informer.Status { return []informer.Status{*fine} }))
			e.AddQueue("b", statusFunc(func() queue.Status { return *q }))
			if s := e.Snapshot(); len(s.Findings) > 0 {
				t.Errorf("found %v", s.Findings)
			}
			bubble.Pass(10 * time.Second)
			fine.Mutations, fine.MutatedSince, fine.MutatedObject = 2, time.Now(), "ns/secret"
			q.Failing, q.FailingItem, q.FailingFor = 4, "secret", 5*time.Second
			q.Late, q.LateItem, q.LateCause, q.FirstLateAgo = 9, "secret", "informer of pods", time.Hour
			q.Timed, q.LongestRunning, q.RunningItem = true, 11*time.Minute, "secret"
			q.FailingError = "no flour"
			s := e.Snapshot()
			var kinds []string
			for _, f := range s.Findings {
				kinds = append(kinds, f.Kind)
			}
			got := strings.Join(kinds, ", ")
			if got != "cache mutated, reconcile hangs, key fails, stale after own writes" {
				t.Fatalf("found %s", got)
			}
			since := time.Now().Add(-5 * time.Second)
			if f := s.Findings[2]; !f.Since.Equal(since) || !strings.Contains(f.Cause, "4 items were requeued ") ||
				strings.Contains(f.Cause, "no flour") != keys || strings.Contains(f.Cause, "Options.Keys") == keys {
				t.Errorf("%+v", f)
			}
			since = time.Now().Add(-time.Hour)
			if f := s.Findings[3]; !f.Since.Equal(since) || !strings.Contains(f.Cause, "pods shows what was "+
				"written for them: 9 in all, the last 0s ago") {
				t.Errorf("%+v", f)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 8}[keys]; strings.Count(string(text), "secret") != want {
				t.Errorf("keys %t: %s", keys, text)
			}
		})
	}
}

// statuses are caches.
type statuses []informer.Status

func (s statuses) Statuses() []informer.Status { return s }

// TestNames checks that names of objects are shown with Keys only, and then in fields of their own.
func TestNames(t *testing.T) {
	for _, failed := range []error{
		&listwatch.DecodingError{Namespace: "ns", Name: "secret", Field: "spec.size"},
		fmt.Errorf("spec.size: %w", apierrors.NewNotFound(schema.GroupResource{Resource: "bakeries"}, "secret")),
	} {
		for _, keys := range []bool{false, true} {
			e := eyes.New(eyes.Options{Keys: keys})
			e.AddCaches("shop", statuses{{
				State: informer.Watching, LastError: failed, Relisted: failed,
				FieldSelector: "metadata.namespace=ns,metadata.name!=secret,metadata.name==secret",
			}})
			s := e.Snapshot()
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			i := s.Informers[0]
			if got := strings.Count(string(text), "secret"); keys && got != 4 || !keys && got > 0 {
				t.Errorf("with keys %t, the name is %d times in %s", keys, got, text)
			}
			if keys && (!strings.HasSuffix(i.LastErrorKey, "secret") || i.RelistedKey != i.LastErrorKey) {
				t.Errorf("keys %q and %q", i.LastErrorKey, i.RelistedKey)
			}
			if want := map[bool]string{
				true:  "metadata.namespace=ns,metadata.name!=secret,metadata.name==secret",
				false: "metadata.namespace=ns,metadata.name!=(name),metadata.name=(name)",
			}[keys]; i.FieldSelector != want {
				t.Errorf("selector %q", i.FieldSelector)
			}
			if !strings.Contains(i.LastError, "spec.size") || i.Relisted != i.LastError {
				t.Errorf("texts %q and %q", i.LastError, i.Relisted)
			}
		}
	}
}
