package clientsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// restClient is client-go's client of the core group at a server, with the transport if
// wrapped.
func restClient(
	t *testing.T, handler http.HandlerFunc, wrapped bool, adjust ...func(*rest.Config),
) *rest.RESTClient {
	t.Helper()
	return restClientFor(t, serve(t, handler, wrapped), adjust...)
}

// restClientFor is client-go's client of the core group with a configuration.
func restClientFor(t *testing.T, config *rest.Config, adjust ...func(*rest.Config)) *rest.RESTClient {
	t.Helper()
	config.GroupVersion, config.APIPath = &corev1.SchemeGroupVersion, "/api"
	config.ContentType = runtime.ContentTypeJSON
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	for _, f := range adjust {
		f(config)
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	client, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serve returns the configuration of clients of a server.
func serve(t *testing.T, handler http.HandlerFunc, wrapped bool) *rest.Config {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1, WarningHandler: rest.NoWarnings{}}
	if wrapped {
		config.Wrap(listwatch.Wrap)
	}
	return config
}

// fromListWatch is a source of config maps.
func fromListWatch(lw *cache.ListWatch) sources.Source {
	return clientsource.FromListerWatcher(
		listwatch.Streamed(lw, scheme.Scheme), &corev1.ConfigMap{})
}

// maps is a lister-watcher of config maps that lists with a function of the client.
func maps(client *rest.RESTClient) *cache.ListWatch {
	return cache.NewListWatchFromClient(client, "configmaps", "ns", fields.Everything())
}

// readingOf is how a source has read.
func readingOf(source sources.Source) listwatch.Reading {
	return source.(interface{ Reading() listwatch.Reading }).Reading()
}

// TestTransport checks that lists and watches of client-go's client have the same results with
// and without the transport, whatever the server sends, and that nothing is requested twice.
func TestTransport(t *testing.T) {
	for _, r := range lists {
		t.Run("list/"+r.name, func(t *testing.T) {
			if r.status == 429 {
				t.Skip("client-go repeats the request, with and without the transport")
			}
			var requests atomic.Int32
			handler := func(w http.ResponseWriter, req *http.Request) {
				requests.Add(1)
				r.serve(w, req)
			}
			streamed := readList(t, fromListWatch(maps(restClient(t, handler, true))))
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
			plain := readList(t,
				clientsource.FromListerWatcher(maps(restClient(t, handler, false)), &corev1.ConfigMap{}))
			if (streamed.err == nil) != (plain.err == nil) {
				t.Fatalf("streamed: %v, plain: %v", streamed.err, plain.err)
			}
			if plain.err == nil && !reflect.DeepEqual(streamed, plain) {
				t.Errorf("streamed: %v, plain: %v", streamed, plain)
			}
		})
	}
	for _, r := range watches {
		t.Run("watch/"+r.name, func(t *testing.T) {
			streamed := readWatch(t, fromListWatch(maps(restClient(t, r.serve, true))))
			plain := readWatch(t,
				clientsource.FromListerWatcher(maps(restClient(t, r.serve, false)), &corev1.ConfigMap{}))
			if !reflect.DeepEqual(streamed.events, plain.events) || (streamed.end == io.EOF) != (plain.end == io.EOF) {
				t.Errorf("streamed: %v, plain: %v", streamed, plain)
			}
		})
	}
}

// TestListWithoutItems checks that the list function gets the server's list without its items.
func TestListWithoutItems(t *testing.T) {
	encodeList, _ := protobuf(t)
	remaining := int64(3)
	want := corev1.ConfigMapList{
		ListMeta: metav1.ListMeta{
			ResourceVersion: "9", Continue: "more", RemainingItemCount: &remaining,
			ShardInfo: &metav1.ShardInfo{Selector: "some"},
		},
		Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
	}
	text, err := runtime.Encode(scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion), &want)
	if err != nil {
		t.Fatal(err)
	}
	for contentType, body := range map[string][]byte{
		runtime.ContentTypeJSON: text, runtime.ContentTypeProtobuf: encodeList(&want),
	} {
		client := restClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Write(body)
		}, true)
		var got *corev1.ConfigMapList
		source := fromListWatch(&cache.ListWatch{ListWithContextFunc: func(
			ctx context.Context, opts metav1.ListOptions,
		) (runtime.Object, error) {
			list, err := maps(client).ListWithContextFunc(ctx, opts)
			got, _ = list.(*corev1.ConfigMapList)
			return list, err
		}})
		items, meta := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{})
		wantMeta := sources.ListMeta{ResourceVersion: "9", Continue: "more"}
		if len(items) != 1 || items[0].Name != "a" || meta != wantMeta {
			t.Errorf("%s: items %v, meta %v", contentType, items, meta)
		}
		if got == nil || len(got.Items) != 0 || !reflect.DeepEqual(got.ListMeta, want.ListMeta) {
			t.Errorf("%s: the function got %+v", contentType, got)
		}
	}
}

// staged collects the objects that a list adds.
type staged struct {
	items    []string
	restarts int
}

func (s *staged) Add(obj any) error {
	s.items = append(s.items, nameOf(obj))
	return nil
}

func (s *staged) Restart() error {
	s.items = nil
	s.restarts++
	return nil
}

// item is a config map with a name.
func item(name string) string { return strings.Replace(configMap, `"a"`, `"`+name+`"`, 1) }

// listing is a source that lists with a function.
func listing(f func(context.Context, metav1.ListOptions) (runtime.Object, error)) sources.Source {
	return fromListWatch(&cache.ListWatch{ListWithContextFunc: f})
}

// TestListFuncRetries checks that only the last list counts if a function lists again after a
// failure.
func TestListFuncRetries(t *testing.T) {
	n := 0
	client := restClient(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			reply{body: listHead + item("a") + "," + item("b") + ",", cut: true}.serve(w, r)
		}
		reply{body: listHead + item("b") + "]}"}.serve(w, r)
	}, true)
	source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		list, err := maps(client).ListWithContextFunc(ctx, opts)
		if err != nil {
			return maps(client).ListWithContextFunc(ctx, opts)
		}
		return list, err
	})
	var got staged
	meta, err := source.List(t.Context(), metav1.ListOptions{}, &got)
	if err != nil || meta.ResourceVersion != "9" || fmt.Sprint(got) != "{[b] 1}" {
		t.Errorf("%v, %v, %v", got, meta, err)
	}
	if r := readingOf(source); r.Streamed != 1 || r.Whole != 0 {
		t.Errorf("%+v", r)
	}
}

// TestListFuncHidesErrors checks that a list fails if its stream failed, even if the function
// swallows the error, and if the function doesn't read it to the end.
func TestListFuncHidesErrors(t *testing.T) {
	for name, body := range map[string]reply{
		"cut":      {body: listHead + item("a") + ",", cut: true},
		"bad item": {body: listHead + item("a") + `,{"metadata":{"name":7}}]}`},
	} {
		client := restClient(t, body.serve, true)
		source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			maps(client).ListWithContextFunc(ctx, opts)
			return &corev1.ConfigMapList{}, nil
		})
		if _, err := source.List(t.Context(), metav1.ListOptions{}, &staged{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	refused := errors.New("refused")
	client := restClient(t, reply{body: listHead + item("a") + "]}"}.serve, true)
	seen := false
	source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		_, err := maps(client).ListWithContextFunc(ctx, opts)
		seen = err != nil
		return &corev1.ConfigMapList{}, nil
	})
	_, err := each(t.Context(), source, metav1.ListOptions{}, func(any) error { return refused })
	if err != refused || !seen {
		t.Errorf("%v; the function saw an error: %v", err, seen)
	}
}

// TestListFuncPages checks that a function that reads all pages itself results in the objects
// of all pages.
func TestListFuncPages(t *testing.T) {
	client := restClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			reply{body: listHead + item("a") + "]}"}.serve(w, r)
			return
		}
		reply{body: strings.Replace(listHead, `,"continue":"more"`, "", 1) + item("b") + "]}"}.serve(w, r)
	}, true)
	source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		for {
			list, err := maps(client).ListWithContextFunc(ctx, opts)
			if err != nil || list.(*corev1.ConfigMapList).Continue == "" {
				return list, err
			}
			opts.Continue = list.(*corev1.ConfigMapList).Continue
		}
	})
	var got staged
	meta, err := source.List(t.Context(), metav1.ListOptions{}, &got)
	if err != nil || meta != (sources.ListMeta{ResourceVersion: "9"}) || fmt.Sprint(got) != "{[a b] 0}" {
		t.Errorf("%v, %v, %v", got, meta, err)
	}
}

// TestListFuncOfSeveral checks that a function that lists several collections is read in one
// piece, this time and the next times.
func TestListFuncOfSeveral(t *testing.T) {
	client := restClient(t, func(w http.ResponseWriter, r *http.Request) {
		namespace := strings.Split(r.URL.Path, "/")[4]
		head := strings.Replace(listHead, `,"continue":"more"`, "", 1)
		reply{body: head + item(namespace) + "]}"}.serve(w, r)
	}, true)
	source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		var both corev1.ConfigMapList
		for _, namespace := range []string{"x", "y"} {
			lw := cache.NewListWatchFromClient(client, "configmaps", namespace, fields.Everything())
			list, err := lw.ListWithContextFunc(ctx, opts)
			if err != nil {
				return nil, err
			}
			both.Items = append(both.Items, list.(*corev1.ConfigMapList).Items...)
		}
		both.ResourceVersion = "9"
		return &both, nil
	})
	for _, want := range []string{"{[x y] 1}", "{[x y] 0}"} {
		var got staged
		if _, err := source.List(t.Context(), metav1.ListOptions{}, &got); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
	if r := readingOf(source); r.Whole != 2 || r.NotStreamed == "" {
		t.Errorf("%+v", r)
	}
}

// TestListFuncOfSeveralAtOnce checks the same for a function that lists them at the same time:
// both responses arrive before one is read.
func TestListFuncOfSeveralAtOnce(t *testing.T) {
	client := restClient(t, func(w http.ResponseWriter, r *http.Request) {
		namespace := strings.Split(r.URL.Path, "/")[4]
		head := strings.Replace(listHead, `,"continue":"more"`, "", 1)
		reply{body: head + item(namespace) + "]}"}.serve(w, r)
	}, true)
	source := listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		var responses []io.ReadCloser
		for _, namespace := range []string{"x", "y"} {
			body, err := client.Get().Namespace(namespace).Resource("configmaps").Stream(ctx)
			if err != nil {
				return nil, err
			}
			defer body.Close()
			responses = append(responses, body)
		}
		var both corev1.ConfigMapList
		for _, body := range responses {
			text, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			var list corev1.ConfigMapList
			if err := json.Unmarshal(text, &list); err != nil {
				return nil, err
			}
			both.Items = append(both.Items, list.Items...)
		}
		both.ResourceVersion = "9"
		return &both, nil
	})
	for range 2 {
		var got staged
		_, err := source.List(t.Context(), metav1.ListOptions{}, &got)
		if err != nil || fmt.Sprint(got.items) != "[x y]" {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestWatchWithoutConnection checks that a watch that can't connect isn't counted as unseen:
// client-go opens an empty one, after eleven tries in ten seconds.
func TestWatchWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var nobody closed
		config := &rest.Config{Host: "http://nobody", QPS: -1, Transport: &nobody}
		config.Wrap(listwatch.Wrap)
		source := fromListWatch(maps(restClientFor(t, config)))
		readWatch(t, source)
		if r := readingOf(source); r != (listwatch.Reading{}) || nobody != 11 {
			t.Errorf("%+v after %d tries", r, nobody)
		}
	})
}

// closed is the transport to a server that closes each connection. It counts them.
type closed int

func (c *closed) RoundTrip(*http.Request) (*http.Response, error) { *c++; return nil, io.EOF }

// TestUnseen checks that a list that no transport sees is counted, and read.
func TestUnseen(t *testing.T) {
	source := fromListWatch(maps(restClient(t, reply{body: listHead + item("a") + "]}"}.serve, false)))
	if items, _ := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{}); len(items) != 1 {
		t.Errorf("items %v", items)
	}
	if r := readingOf(source); r.Unseen != 1 || r.Whole != 1 || r.NotStreamed == "" {
		t.Errorf("%+v", r)
	}
}

// TestTransportTwice checks that the first of two transports in a row reads the response.
func TestTransportTwice(t *testing.T) {
	twice := func(c *rest.Config) { c.Wrap(listwatch.Wrap) }
	source := fromListWatch(maps(restClient(t, reply{body: listHead + item("a") + "]}"}.serve, true, twice)))
	if items, _ := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{}); len(items) != 1 {
		t.Errorf("items %v", items)
	}
}

// TestWatchFuncOfSeveral checks that a watch function that opens two watches is read through
// its own watcher.
func TestWatchFuncOfSeveral(t *testing.T) {
	client := restClient(t, reply{body: event("ADDED", watchedMap)}.serve, true)
	source := fromListWatch(&cache.ListWatch{WatchFuncWithContext: func(
		ctx context.Context, opts metav1.ListOptions,
	) (watch.Interface, error) {
		first, err := maps(client).WatchFuncWithContext(ctx, opts)
		if err != nil {
			return nil, err
		}
		first.Stop()
		return maps(client).WatchFuncWithContext(ctx, opts)
	}})
	if w := readWatch(t, source); len(w.events) != 1 || w.end != io.EOF {
		t.Errorf("%v", w)
	}
	if r := readingOf(source); r.Whole != 1 || r.NotStreamed == "" {
		t.Errorf("%+v", r)
	}
}

// roundTripper answers each request with the same response.
type roundTripper struct {
	response *http.Response
	idle     int
}

func (r *roundTripper) RoundTrip(*http.Request) (*http.Response, error) { return r.response, nil }
func (r *roundTripper) CloseIdleConnections()                           { r.idle++ }

// TestTransportUnused checks that requests that aren't of a source get their response
// unchanged, without an allocation.
func TestTransportUnused(t *testing.T) {
	next := &roundTripper{response: &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}}
	transport := listwatch.Wrap(next)
	req := httptest.NewRequest(http.MethodGet, "/api/v1/configmaps", nil)
	if allocs := testing.AllocsPerRun(100, func() {
		if resp, err := transport.RoundTrip(req); resp != next.response || err != nil {
			t.Errorf("%v, %v", resp, err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations a request", allocs)
	}
	if wrapper, ok := transport.(utilnet.RoundTripperWrapper); !ok || wrapper.WrappedRoundTripper() != next {
		t.Error("the next transport isn't found")
	}
	if (&http.Client{Transport: transport}).CloseIdleConnections(); next.idle != 1 {
		t.Error("idle connections stay open")
	}
}
