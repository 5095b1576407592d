package reflector

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// hostile is a server that answers at once, ten milliseconds after the request, and never well.
type hostile struct {
	// lists and watches answer the n-th request of their kind.
	lists   func(n int, opts metav1.ListOptions) (*corev1.ConfigMapList, error)
	watches func(n int, opts metav1.ListOptions) (watch.Interface, error)
	streams bool

	mu              sync.Mutex
	listed, watched int
	// over makes all lists fail, because a list of client-go goes on after its reflector has ended.
	over atomic.Bool
}

func (h *hostile) count(n *int) int {
	bubble.Pass(10 * time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
	return *n
}

func (h *hostile) requests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listed + h.watched
}

func (h *hostile) List(_ context.Context, opts metav1.ListOptions) (*corev1.ConfigMapList, error) {
	if n := h.count(&h.listed); !h.over.Load() {
		return h.lists(n, opts)
	}
	return nil, forbidden
}

func (h *hostile) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return h.watches(h.count(&h.watched), opts)
}

func (h *hostile) IsWatchListSemanticsUnSupported() bool { return !h.streams }

func (h *hostile) ListWithContext(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	list, err := h.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// sent is a watch on which these events arrive, and then its end.
func sent(events ...watch.Event) (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(len(events), false)
	for _, e := range events {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	return w, nil
}

func versioned(name string, version int) *corev1.ConfigMap {
	object := configMap(name)
	if version > 0 {
		object.ResourceVersion = strconv.Itoa(version)
	}
	return object
}

func event(kind watch.EventType, version int) watch.Event {
	return watch.Event{Type: kind, Object: versioned("a", version)}
}

func failure(err apierrors.APIStatus) watch.Event {
	status := err.Status()
	return watch.Event{Type: watch.Error, Object: &status}
}

func endBookmark(version int) watch.Event {
	object := versioned("", version)
	object.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return watch.Event{Type: watch.Bookmark, Object: object}
}

// page is a list of one object. Without a name it is empty.
func page(name, token string) (*corev1.ConfigMapList, error) {
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "100", Continue: token}}
	if name != "" {
		list.Items = []corev1.ConfigMap{*versioned(name, 90)}
	}
	return list, nil
}

// onePage is a good list.
func onePage(int, metav1.ListOptions) (*corev1.ConfigMapList, error) { return page("a", "") }

// listsFail and watchesFail answer each request with err.
func listsFail(err error) func(int, metav1.ListOptions) (*corev1.ConfigMapList, error) {
	return func(int, metav1.ListOptions) (*corev1.ConfigMapList, error) { return nil, err }
}

func watchesFail(err error) func(int, metav1.ListOptions) (watch.Interface, error) {
	return func(int, metav1.ListOptions) (watch.Interface, error) { return nil, err }
}

// watchesSend answers each watch with the same events.
func watchesSend(events ...watch.Event) func(int, metav1.ListOptions) (watch.Interface, error) {
	return func(int, metav1.ListOptions) (watch.Interface, error) { return sent(events...) }
}

// initially answers each watch-list by lists, and each watch by watches.
func initially(
	lists, watches func(int, metav1.ListOptions) (watch.Interface, error),
) func(int, metav1.ListOptions) (watch.Interface, error) {
	return func(n int, opts metav1.ListOptions) (watch.Interface, error) {
		if opts.SendInitialEvents != nil {
			return lists(n, opts)
		}
		return watches(n, opts)
	}
}

const (
	// few requests a minute are those of up to seven requests before each back-off: back-offs without
	// jitter start at 0.8 s and double, so there are seven attempts in a minute.
	few = 49
	// steady is a request a second.
	steady = 80
	// paged are those of a list of 101 pages before each back-off.
	paged = 1000
)

// hostiles are servers whose answers invite the next request at once.
var hostiles = []struct {
	name    string
	server  hostile
	opts    options
	refuse  error // the error of the sink
	most    int   // requests a minute
	differs string
}{{
	name: "lists fail", server: hostile{lists: listsFail(forbidden)}, most: few,
}, {
	name: "lists fail inside", server: hostile{lists: listsFail(internal)}, most: few,
}, {
	name: "no version is available", server: hostile{lists: listsFail(expired)}, most: few,
}, {
	name: "each version is too large", server: hostile{lists: listsFail(tooLarge)}, most: few,
}, {
	name: "lists are throttled", server: hostile{lists: listsFail(throttled)}, most: few,
}, {
	name: "the sink refuses each list", server: hostile{lists: onePage}, refuse: errors.New("full"), most: few,
}, {
	name: "the continue token is ignored", most: few,
	server: hostile{lists: func(int, metav1.ListOptions) (*corev1.ConfigMapList, error) {
		return page("a", "next")
	}},
	differs: "client-go requests pages for ever",
}, {
	name: "continue tokens are repeated in turn", most: few,
	server: hostile{lists: func(n int, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
		return page(strconv.Itoa(n), strconv.Itoa(n%3))
	}},
	differs: "client-go requests pages for ever",
}, {
	name: "pages repeat an object", most: paged,
	server: hostile{lists: func(n int, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
		return page("a", strconv.Itoa(n))
	}},
	differs: "client-go requests pages for ever",
}, {
	name: "pages repeat objects in turn", most: paged,
	server: hostile{lists: func(n int, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
		return page(strconv.Itoa(n%7), strconv.Itoa(n))
	}},
	differs: "client-go requests pages for ever",
}, {
	name: "pages are empty", most: paged,
	server: hostile{lists: func(n int, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
		return page("", strconv.Itoa(n))
	}},
	differs: "client-go requests pages for ever",
}, {
	name: "pages expire", most: few,
	server: hostile{lists: func(n int, opts metav1.ListOptions) (*corev1.ConfigMapList, error) {
		if opts.Continue != "" || opts.Limit == 0 {
			return nil, expired
		}
		return page("a", strconv.Itoa(n))
	}},
}, {
	name: "watches are forbidden", server: hostile{lists: onePage, watches: watchesFail(forbidden)}, most: few,
}, {
	name: "watches are throttled", server: hostile{lists: onePage, watches: watchesFail(throttled)}, most: few,
}, {
	name: "watches are refused", server: hostile{lists: onePage, watches: watchesFail(refused)}, most: few,
}, {
	name: "watches fail inside", server: hostile{lists: onePage, watches: watchesFail(internal)}, most: few,
}, {
	name: "watches have expired", server: hostile{lists: onePage, watches: watchesFail(expired)}, most: few,
}, {
	name: "watches end with an expiry", most: few,
	server: hostile{lists: onePage, watches: watchesSend(failure(expired))},
}, {
	name: "watches end throttled", most: few,
	server: hostile{lists: onePage, watches: watchesSend(failure(throttled))},
}, {
	name: "watches end with an internal error", most: few,
	server: hostile{lists: onePage, watches: watchesSend(failure(internal))},
}, {
	name: "watches end with internal errors, and patience", most: steady,
	opts:    options{internalPatience: time.Hour},
	server:  hostile{lists: onePage, watches: watchesSend(failure(internal))},
	differs: "client-go watches again at once",
}, {
	name: "watches end with an error after an event", most: few,
	server: hostile{lists: onePage, watches: watchesSend(event(watch.Modified, 101), failure(forbidden))},
}, {
	name: "watches are closed", server: hostile{lists: onePage, watches: watchesSend()}, most: few,
}, {
	name: "watches bring a known version", most: few,
	server:  hostile{lists: onePage, watches: watchesSend(event(watch.Modified, 100))},
	differs: "client-go watches again at once",
}, {
	name: "watches bring a bookmark of a known version", most: few,
	server:  hostile{lists: onePage, watches: watchesSend(event(watch.Bookmark, 100))},
	differs: "client-go watches again at once",
}, {
	name: "watches bring objects without versions", most: few,
	server: hostile{
		lists: func(int, metav1.ListOptions) (*corev1.ConfigMapList, error) {
			return &corev1.ConfigMapList{}, nil
		},
		watches: watchesSend(event(watch.Added, 0), event(watch.Modified, 0)),
	},
	differs: "client-go watches again at once",
}, {
	name: "watches bring objects of another type", most: few,
	server: hostile{lists: onePage, watches: watchesSend(
		watch.Event{Type: watch.Added, Object: &corev1.Secret{}})},
}, {
	name: "each watch brings a bookmark", most: steady,
	server: hostile{lists: onePage, watches: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		return sent(event(watch.Bookmark, 100+n))
	}},
	differs: "client-go watches again at once",
}, {
	name: "each watch brings a change", most: steady,
	server: hostile{lists: onePage, watches: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		return sent(event(watch.Modified, 100+n))
	}},
	differs: "client-go watches again at once",
}, {
	name: "versions go back and forth", most: steady,
	server: hostile{lists: onePage, watches: func(n int, _ metav1.ListOptions) (watch.Interface, error) {
		return sent(event(watch.Modified, 100+n%2))
	}},
	differs: "client-go watches again at once",
}, {
	name: "watches are silent, and patience is short", most: steady,
	opts: options{silence: 20 * time.Millisecond},
	server: hostile{lists: onePage, watches: func(int, metav1.ListOptions) (watch.Interface, error) {
		return watch.NewFake(), nil
	}},
}, {
	name: "watch-lists fail", most: few,
	server: hostile{streams: true, lists: listsFail(forbidden), watches: watchesFail(forbidden)},
}, {
	name: "watch-lists are throttled", most: few,
	server: hostile{streams: true, watches: watchesFail(throttled)},
}, {
	name: "watch-lists of no version", most: few,
	server:  hostile{streams: true, watches: watchesFail(expired)},
	differs: "client-go asks again at once",
}, {
	name: "watch-lists expire", most: few,
	server:  hostile{streams: true, watches: watchesSend(event(watch.Added, 90), failure(expired))},
	differs: "client-go asks again at once",
}, {
	name: "watch-lists are closed", most: few,
	server: hostile{streams: true, lists: onePage, watches: watchesSend()},
}, {
	name: "watch-lists are cut", most: few,
	server:  hostile{streams: true, lists: onePage, watches: watchesSend(event(watch.Added, 90))},
	differs: "client-go asks again at once",
}, {
	name: "watch-lists have bookmarks but no end", most: few,
	server:  hostile{streams: true, lists: onePage, watches: watchesSend(event(watch.Bookmark, 90))},
	differs: "client-go asks again at once",
}, {
	name: "watch-lists are closed after their end", most: few,
	server: hostile{streams: true, watches: watchesSend(event(watch.Added, 90), endBookmark(100))},
}, {
	name: "the end of watch-lists comes twice", most: few,
	server: hostile{streams: true,
		watches: watchesSend(event(watch.Added, 90), endBookmark(100), endBookmark(100))},
	differs: "client-go watches again at once",
}, {
	name: "watch-lists fail after their end", most: few,
	server: hostile{streams: true, watches: initially(
		watchesSend(event(watch.Added, 90), endBookmark(100), failure(internal)), watchesFail(forbidden))},
}, {
	name: "the sink refuses each watch-list", refuse: errors.New("full"), most: few,
	server: hostile{streams: true, lists: onePage,
		watches: watchesSend(event(watch.Added, 90), endBookmark(100))},
}}

// TestHostileServers checks that no server makes a reflector send requests without a pause, and what
// client-go's does.
func TestHostileServers(t *testing.T) {
	for n := range hostiles {
		row := &hostiles[n]
		t.Run(row.name, func(t *testing.T) {
			perMinute := func(run func(context.Context, *hostile, *world)) (requests int) {
				server := &hostile{lists: row.server.lists, watches: row.server.watches, streams: row.server.streams}
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					w := &world{t: t, transcript: newTranscript()}
					w.refusing(row.refuse)
					var running sync.WaitGroup
					running.Go(func() { run(ctx, server, w) })
					bubble.Pass(time.Minute)
					requests = server.requests()
					server.over.Store(true)
					cancel()
					running.Wait()
					bubble.Pass(time.Second)
				})
				return requests
			}
			mine := perMinute(func(ctx context.Context, h *hostile, w *world) { h.ours(w, row.opts).Run(ctx) })
			if mine > row.most || mine == 0 {
				t.Errorf("%d requests in a minute, want up to %d", mine, row.most)
			}
			theirs := perMinute(func(ctx context.Context, h *hostile, w *world) {
				h.upstream(w, row.opts).RunWithContext(ctx)
			})
			t.Logf("%d requests in a minute, client-go sends %d", mine, theirs)
			if differs := theirs > row.most; differs != (row.differs != "") {
				t.Errorf("client-go differs: %q; it sends %d requests in a minute", row.differs, theirs)
			}
		})
	}
}

func (h *hostile) ours(w *world, opts options) *Reflector {
	source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return h }, clientsource.Options{Client: h})
	return New(source, sink{w}, Options{
		MaxInternalErrorRetryDuration: opts.internalPatience, SilenceTimeout: opts.silence,
		ErrorHandler: func(context.Context, error) {},
	})
}

func (h *hostile) upstream(w *world, opts options) *cache.Reflector {
	lw := cache.ToListWatcherWithWatchListSemantics(
		&cache.ListWatch{ListWithContextFunc: h.ListWithContext, WatchFuncWithContext: h.Watch}, h)
	r := cache.NewReflectorWithOptions(lw, &corev1.ConfigMap{}, store{w}, cache.ReflectorOptions{})
	r.MaxInternalErrorRetryDuration = opts.internalPatience
	return r
}
