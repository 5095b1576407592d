package clientsource_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// budgeted returns a source of config maps with a limiter.
func budgeted(
	c *configMaps, limiter *listwatch.Limiter, opts ...func(*sources.Decoding),
) sources.Source {
	var decoding sources.Decoding
	for _, f := range opts {
		f(&decoding)
	}
	return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
		func() sources.Client[*corev1.ConfigMapList] { return c },
		clientsource.Options{Decoding: decoding, Limiter: limiter})
}

func initialEvents() metav1.ListOptions {
	yes := true
	return metav1.ListOptions{SendInitialEvents: &yes}
}

// transport answers requests without a network, each with the body of that name.
type transport map[string]io.Reader

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	name := req.URL.Query().Get("labelSelector") + req.URL.Query().Get("continue")
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(t[name]),
		Header: http.Header{"Content-Type": {"application/json"}},
	}, nil
}

// TestBudgetSenior checks that while the senior list holds more than the budget, no other continues, not even
// between its pages, whether it lists or streams. Afterwards all do.
func TestBudgetSenior(t *testing.T) {
	const last = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`
	bodies := transport{}
	c := configMapClient(t, nil, func(c *rest.Config) { c.Transport = bodies })
	synctest.Test(t, func(t *testing.T) {
		first, send := io.Pipe()
		bodies["senior"], bodies["seniormore"] = first, strings.NewReader(last+configMap+"]}")
		bodies["list"] = strings.NewReader(last + configMap + "," + configMap + "]}")
		bodies["watch"] = strings.NewReader(event("ADDED", watchedMap) + event("ADDED",
			watchedMap) + event("BOOKMARK", bookmark))
		bodies["canceled"] = strings.NewReader(last + configMap + "]}")
		limiter := listwatch.NewLimiter(4).WithBudget(int64(len(configMap)) - 1)
		var mu sync.Mutex
		items := map[string]int{}
		count := func(name string) func(any) error {
			return func(any) error {
				mu.Lock()
				defer mu.Unlock()
				items[name]++
				return nil
			}
		}
		expect := func(senior, other int, held int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if items["senior"] != senior || items["list"] != other || items["watch"] != other ||
				items["canceled"] != 0 {
				t.Fatalf("expected %d items of the senior and %d of the others: %v", senior, other, items)
			}
			if limiter.Held() != int64(held) {
				t.Fatalf("%d bytes held, expected %d", limiter.Held(), held)
			}
		}
		var all sync.WaitGroup
		list := func(ctx context.Context, source sources.Source, name, page string, end error) {
			all.Go(func() {
				opts := metav1.ListOptions{LabelSelector: name, Continue: page}
				if _, err := each(ctx, source, opts, count(name)); !errors.Is(err, end) {
					t.Errorf("%s: %v, expected %v", name, err, end)
				}
			})
		}
		senior := budgeted(c, limiter)
		list(t.Context(), senior, "senior", "", nil)
		io.WriteString(send, listHead+configMap+",")
		expect(1, 0, len(configMap))

		ctx, cancel := context.WithCancel(t.Context())
		list(t.Context(), budgeted(c, limiter), "list", "", nil)
		list(ctx, budgeted(c, limiter), "canceled", "", context.Canceled)
		all.Go(func() {
			opts := initialEvents()
			opts.LabelSelector = "watch"
			stream, err := budgeted(c, limiter).Watch(t.Context(), opts)
			for end := false; err == nil && !end; {
				var e sources.Event
				if e, err = stream.Next(t.Context()); e.Object != nil {
					count("watch")(e.Object)
				}
				end = e.InitialEventsEnd
			}
			if err != nil {
				t.Error(err)
			}
			stream.Stop()
		})
		expect(1, 0, len(configMap))
		cancel()
		io.WriteString(send, configMap+"]}")
		send.Close()
		expect(2, 0, 2*len(configMap))
		list(t.Context(), senior, "senior", "more", nil)
		all.Wait()
		expect(3, 2, 0)
	})
}

// TestBudgetAbandonedList checks that an abandoned list releases what it holds when its context is done, and
// when its source begins another.
func TestBudgetAbandonedList(t *testing.T) {
	bodies := transport{}
	c := configMapClient(t, nil, func(c *rest.Config) { c.Transport = bodies })
	synctest.Test(t, func(t *testing.T) {
		limiter := listwatch.NewLimiter(1).WithBudget(1)
		source := budgeted(c, limiter)
		page := func(ctx context.Context) {
			t.Helper()
			bodies[""] = strings.NewReader(listHead + configMap + "]}")
			if _, err := each(ctx, source, metav1.ListOptions{}, func(any) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if limiter.Held() != int64(len(configMap)) {
				t.Fatalf("%d bytes held", limiter.Held())
			}
		}
		page(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		page(ctx)
		cancel()
		synctest.Wait()
		if limiter.Held() != 0 {
			t.Errorf("%d bytes held", limiter.Held())
		}
		bodies[""] = strings.NewReader(event("ADDED", watchedMap))
		stream, err := source.Watch(t.Context(), initialEvents())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Next(t.Context()); err != nil || limiter.Held() == 0 {
			t.Errorf("%d bytes held, %v", limiter.Held(), err)
		}
		stream.Stop()
		if limiter.Held() != 0 {
			t.Errorf("%d bytes held by a stream that was stopped", limiter.Held())
		}
	})
}

// TestBudgetCounts checks that the text of decoded items counts, in both encodings, listed and streamed, and
// that items which a relist takes from the cache don't.
func TestBudgetCounts(t *testing.T) {
	encodeList, encodeEvents := protobuf(t)
	object := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns",
		ResourceVersion: "5"}}
	end := object.DeepCopy()
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	added := watch.Event{Type: watch.Added, Object: &object}
	keep := func(o *sources.Decoding) { o.KeepUnchanged = true }
	for name, test := range map[string]struct {
		list, stream string
		// item and event are the sizes of one of each.
		item, event int
		adjust      []func(*rest.Config)
		contentType string
	}{
		"JSON": {
			list:   listHead + configMap + " , " + configMap + "]}",
			stream: event("ADDED", watchedMap) + event("ADDED", watchedMap) + event("BOOKMARK", bookmark),
			item:   len(configMap), event: len(event("ADDED", watchedMap)) - 1,
			contentType: runtime.ContentTypeJSON,
		},
		"protobuf": {
			list: string(encodeList(&corev1.ConfigMapList{ListMeta: metav1.ListMeta{Continue: "more"},
				Items: []corev1.ConfigMap{object, object}})),
			stream: string(encodeEvents(added, added, watch.Event{Type: watch.Bookmark, Object: end})),
			item:   object.Size(), event: len(encodeEvents(added)), contentType: runtime.ContentTypeProtobuf,
			adjust: []func(*rest.Config){withProtobuf},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				if r.URL.Query().Has("watch") {
					io.WriteString(w, test.stream)
				} else {
					io.WriteString(w, test.list)
				}
			}, test.adjust...)
			limiter := listwatch.NewLimiter(1).WithBudget(1 << 20)
			n := 0
			if _, err := each(t.Context(), budgeted(c, limiter), metav1.ListOptions{}, func(any) error {
				if n++; limiter.Held() != int64(n*test.item) {
					t.Errorf("%d items of %d bytes hold %d", n, test.item, limiter.Held())
				}
				return nil
			}); err != nil || n != 2 {
				t.Errorf("%d items, %v", n, err)
			}
			limiter = listwatch.NewLimiter(1).WithBudget(1 << 20)
			stream, err := budgeted(c, limiter).Watch(t.Context(), initialEvents())
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Stop()
			for _, n := range []int{1, 2, 0} {
				if e, err := stream.Next(t.Context()); err != nil || limiter.Held() != int64(n*test.event) {
					t.Errorf("%v, %v: %d events of %d bytes hold %d", e, err, n, test.event, limiter.Held())
				}
			}
			if test.contentType != runtime.ContentTypeJSON {
				return
			}
			source := budgeted(c, limiter, keep)
			source.(interface {
				UseCache(func(decode.Identity) (any, bool)) bool
			}).UseCache(func(decode.Identity) (any, bool) { return &object, true })
			if _, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error {
				if limiter.Held() != 0 {
					t.Errorf("%d bytes held for cached items", limiter.Held())
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
}
