package cache_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// storeJournal is a store that writes down what a reflector does to it.
type storeJournal struct{ *journal }

func (s storeJournal) Add(obj any) error             { s.add("add %s", text(obj)); return nil }
func (s storeJournal) Update(obj any) error          { s.add("update %s", text(obj)); return nil }
func (s storeJournal) Delete(obj any) error          { s.add("delete %s", text(obj)); return nil }
func (s storeJournal) Resync() error                 { s.add("resync"); return nil }
func (s storeJournal) Bookmark(version string) error { s.add("bookmark %s", version); return nil }
func (s storeJournal) UpdateResourceVersion(version string) {
	s.add("version %s", version)
}
func (s storeJournal) Replace(list []any, version string) error {
	s.add("replace [%s] at %s", names(list, true), version)
	return nil
}

var reflectors = map[string]func(clientgo.ListerWatcher, any, clientgo.ReflectorStore, clientgo.ReflectorOptions) *clientgo.Reflector{
	"ours":   cache.NewReflectorWithOptions,
	"theirs": clientgo.NewReflectorWithOptions,
}

// A reflector asks the same and does the same to its store as client-go's; so the
// shell that ours lives in adds and hides nothing.
func TestReflectorLikeClientGo(t *testing.T) {
	type reflector = clientgo.Reflector
	for _, test := range []struct {
		name    string
		options clientgo.ReflectorOptions
		set     func(*reflector)
		before  func(*server)
		script  func(*server)
	}{
		{name: "changes", script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.Update(pod("x", "b", ""))
			s.Delete("x", "a")
			s.Skip(3)
			s.Bookmark()
		}},
		{name: "changes after a list", before: (*server).NoWatchListClient, script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.Update(pod("x", "b", ""))
		}},
		{name: "changes before the end of a streamed list", before: func(s *server) { s.OmitEndBookmark(true) }, script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.Update(pod("x", "a", ""))
			s.Delete("x", "a")
			s.Update(pod("x", "b", ""))
			s.EndInitialEvents()
		}},
		{name: "closed", script: func(s *server) {
			bubble.Advance(time.Minute)
			s.CloseWatches()
			settle()
			s.Create(pod("x", "b", ""))
		}},
		{name: "expired", script: func(s *server) {
			s.FailWatches(expired)
			bubble.Advance(backoff)
			s.Create(pod("x", "b", ""))
		}},
		{name: "very short", script: func(s *server) { s.CloseWatches(); bubble.Advance(backoff) }},
		{name: "throttled", before: func(s *server) {
			s.NoWatchListClient()
			s.Fail("WATCH", apierrors.NewTooManyRequests("busy", 0))
		}, script: func(*server) { bubble.Advance(backoff) }},
		{name: "list forbidden", before: func(s *server) { s.NoWatchListClient(); s.Fail("LIST", forbidden) }, script: func(*server) { bubble.Advance(backoff) }},
		{name: "watch forbidden", before: func(s *server) { s.NoWatchListClient(); s.Fail("WATCH", forbidden) }, script: func(*server) { bubble.Advance(backoff) }},
		{name: "pages", before: (*server).NoWatchListClient, set: func(r *reflector) { r.WatchListPageSize = 1 }, script: func(s *server) {
			s.Create(pod("x", "b", ""))
			s.FailWatches(expired)
			bubble.Advance(backoff)
		}},
		{name: "patience", set: func(r *reflector) { r.MaxInternalErrorRetryDuration = time.Minute }, script: func(s *server) {
			bubble.Advance(time.Minute)
			s.FailWatches(apierrors.NewInternalError(errBad))
		}},
		{name: "resync", options: clientgo.ReflectorOptions{ResyncPeriod: time.Minute}, script: func(*server) { bubble.Advance(2 * time.Minute) }},
		{name: "no resync", options: clientgo.ReflectorOptions{ResyncPeriod: time.Minute}, set: func(r *reflector) {
			r.ShouldResync = func() bool { return false }
		}, script: func(*server) { bubble.Advance(2 * time.Minute) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := map[string]string{}
			for side, newReflector := range reflectors {
				synctest.Test(t, func(t *testing.T) {
					j := storeJournal{&journal{}}
					s := newServer()
					s.Create(pod("x", "a", ""))
					s.Observe(func(r runtimetest.Request) { j.add("%s", r) })
					if test.before != nil {
						test.before(s)
					}
					test.options.Name = "test"
					r := newReflector(s.ListerWatcher(), &corev1.Pod{}, j, test.options)
					if test.set != nil {
						test.set(r)
					}
					stop := running(t, r.RunWithContext)
					test.script(s)
					settle()
					got[side] = fmt.Sprintf("%s; last %s, %s %s", j.take(), r.LastSyncResourceVersion(), r.Name(), r.TypeDescription())
					stop()
					settle()
					if s.Watches() != 0 {
						t.Errorf("%d watches are open after the end", s.Watches())
					}
				})
			}
			if got["ours"] != got["theirs"] {
				t.Errorf("ours:   %s\ntheirs: %s", got["ours"], got["theirs"])
			}
		})
	}
}

// ListAndWatch does one round and says why it couldn't.
func TestListAndWatch(t *testing.T) {
	for verb, want := range map[string]string{"LIST": "failed to list *v1.Pod: " + forbidden.Error(), "WATCH": forbidden.Error()} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.NoWatchListClient()
			s.Fail(verb, forbidden)
			r := cache.NewReflector(s.ListerWatcher(), &corev1.Pod{}, cache.NewStore(keyFunc), 0)
			if err := r.ListAndWatchWithContext(t.Context()); err == nil || err.Error() != want || !apierrors.IsForbidden(err) {
				t.Errorf("%v, want %s", err, want)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := r.ListAndWatchWithContext(ctx); err != nil {
					t.Error(err)
				}
			})
			settle()
			cancel()
			wg.Wait()
		})
	}
}

func TestReflectorConstructors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(pod("x", "a", ""))
		indexer, r := cache.NewNamespaceKeyedIndexerAndReflector(s.ListerWatcher(), &corev1.Pod{}, 0)
		stop := running(t, r.RunWithContext)
		if found, err := indexer.ByIndex(cache.NamespaceIndex, "x"); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		stop()
		if r := cache.NewNamedReflector("name", s.ListerWatcher(), nil, indexer, 0); r.Name() != "name" || r.TypeDescription() != "<unspecified>" {
			t.Errorf("%s %s", r.Name(), r.TypeDescription())
		}
	})
}

func TestDefaultWatchErrorHandler(t *testing.T) {
	defer func(handlers []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = handlers }(utilruntime.ErrorHandlers)
	var got []any
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, msg string, values ...any) {
		got = append([]any{err, msg}, values...)
	}}
	r := cache.NewNamedReflector("name", newServer().ListerWatcher(), &corev1.Pod{}, cache.NewStore(keyFunc), 0)
	cache.DefaultWatchErrorHandler(t.Context(), r, errBad)
	if fmt.Sprint(got) != "[bad object Failed to watch reflector name type *v1.Pod]" {
		t.Error(got)
	}
}

// Whether a client streams lists is told apart.
func TestListWatchSemantics(t *testing.T) {
	no := newServer()
	no.NoWatchListClient()
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: no.ListerWatcher().(cache.ListerWatcherWithContext).ListWithContext,
	}, no)
	if list, err := cache.ToListerWatcherWithContext(lw).ListWithContext(t.Context(), metav1.ListOptions{}); err != nil || list == nil {
		t.Errorf("%v, %v", list, err)
	}
	if u, ok := lw.(interface{ IsWatchListSemanticsUnSupported() bool }); !ok || !u.IsWatchListSemanticsUnSupported() {
		t.Error("a client without WatchList semantics isn't told apart")
	}
}

// listWatches are the two makers of lister-watchers over a REST client.
var listWatches = map[string][2]func(clientgo.Getter) *clientgo.ListWatch{
	"selector": {
		func(c clientgo.Getter) *clientgo.ListWatch {
			return cache.NewListWatchFromClient(c, "pods", "ns", fields.OneTermEqualSelector("a", "b"))
		},
		func(c clientgo.Getter) *clientgo.ListWatch {
			return clientgo.NewListWatchFromClient(c, "pods", "ns", fields.OneTermEqualSelector("a", "b"))
		},
	},
	"modifier": {
		func(c clientgo.Getter) *clientgo.ListWatch {
			return cache.NewFilteredListWatchFromClient(c, "pods", "", func(o *metav1.ListOptions) { o.LabelSelector = "x" })
		},
		func(c clientgo.Getter) *clientgo.ListWatch {
			return clientgo.NewFilteredListWatchFromClient(c, "pods", "", func(o *metav1.ListOptions) { o.LabelSelector = "x" })
		},
	},
}

// What lists and watches through a REST client asks for what client-go's does.
func TestListWatchFromClient(t *testing.T) {
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r.Method+" "+r.URL.String())
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	client, err := rest.RESTClientFor(&rest.Config{Host: server.URL, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Client.CloseIdleConnections()
	options := metav1.ListOptions{ResourceVersion: "7", Limit: 5}
	for name, sides := range listWatches {
		var got [2][]string
		for side, make := range sides {
			lw := make(client)
			_, err1 := lw.List(options)
			_, err2 := lw.Watch(options)
			_, err3 := lw.ListWithContext(t.Context(), options)
			_, err4 := lw.WatchWithContext(t.Context(), options)
			for _, err := range []error{err1, err2, err3, err4} {
				if !apierrors.IsForbidden(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			got[side], requests = requests, nil
		}
		if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) || len(got[0]) != 4 {
			t.Errorf("%s: %s, theirs %s", name, got[0], got[1])
		}
	}
}
