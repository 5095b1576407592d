package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// drops is a server of config maps over HTTP, and what it does with requests to leave managedFields out.
type drops struct {
	objects *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	honours atomic.Bool
	// refuses returns whether a request is refused.
	refuses func(verb string, asked bool) bool
	config  *rest.Config

	mu       sync.Mutex
	requests []accepted
}

// accepted is the header Accept of a request.
type accepted struct{ verb, accept string }

const dropParameter = ";drop=metadata.managedFields"

func (a accepted) asks() bool { return strings.Contains(a.accept, dropParameter) }

func (a accepted) without() accepted {
	return accepted{a.verb, strings.ReplaceAll(a.accept, dropParameter, "")}
}

// serveDrops starts a server of one object. The accepted types are those of client-go's clients unless accept
// is set.
func serveDrops(t *testing.T, accept string) *drops {
	s := &drops{objects: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
	s.objects.Create(owned("first"))
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.config = &rest.Config{Host: server.URL, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: accept}}
	return s
}

// owned is a config map with managedFields.
func owned(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Annotations: map[string]string{"a": "b"},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "test", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1",
				FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{}}`)},
			}}},
		Data: map[string]string{"key": "value"},
	}
}

func (s *drops) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	verb := "LIST"
	switch {
	case req.URL.Query().Get("watch") != "":
		verb = "WATCH"
	case strings.HasSuffix(req.URL.Path, "/first"):
		verb = "GET"
	}
	got := accepted{verb, strings.Join(req.Header["Accept"], "|")}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	s.mu.Unlock()
	leaveOut := func(o *corev1.ConfigMap) {
		if s.honours.Load() && got.asks() {
			o.ManagedFields = nil
		}
	}
	var opts metav1.ListOptions
	orPanic(scheme.ParameterCodec.DecodeParameters(req.URL.Query(), corev1.SchemeGroupVersion, &opts))
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	answer := json.NewEncoder(w)
	if s.refuses != nil && s.refuses(verb, got.asks()) {
		w.WriteHeader(http.StatusNotAcceptable)
		orPanic(answer.Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotAcceptable,
			Code: http.StatusNotAcceptable, Message: "only some media types are acceptable"}))
		return
	}
	switch verb {
	case "GET":
		obj, _ := s.objects.Find("shop", "first")
		orPanic(answer.Encode(obj))
	case "LIST":
		list, err := s.objects.List(req.Context(), opts)
		orPanic(err)
		list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}
		for i := range list.Items {
			leaveOut(&list.Items[i])
		}
		orPanic(answer.Encode(list))
	case "WATCH":
		events, err := s.objects.Watch(req.Context(), opts)
		orPanic(err)
		defer events.Stop()
		w.(http.Flusher).Flush()
		for event := range events.ResultChan() {
			o := event.Object.(*corev1.ConfigMap).DeepCopy()
			o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
			leaveOut(o)
			orPanic(answer.Encode(map[string]any{"type": event.Type, "object": o}))
			w.(http.Flusher).Flush()
		}
	}
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}

// took returns the requests since the last call.
func (s *drops) took() []accepted {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// maker makes informers with one client. With lists, they list in pages.
type maker func(lists bool) cache.SharedIndexInformer

type mapClient = client.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList]

// generated makes informers with a generated client, and returns it, too.
func (s *drops) generated(t *testing.T) (maker, *mapClient) {
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	httpClient := client.Must(rest.HTTPClientFor(s.config))
	t.Cleanup(httpClient.CloseIdleConnections)
	// The clients of two groups share the HTTP client, not the REST client.
	made := func() *mapClient {
		return client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](
			client.Must(group.RESTClient(s.config, httpClient)), scheme.ParameterCodec, "configmaps", "shop")
	}
	return func(lists bool) cache.SharedIndexInformer {
		c, opts := made(), gen.Options{}
		if lists {
			opts.Client = listsOnly{}
		}
		return gen.NewShared[*corev1.ConfigMap](
			func() gen.ResourceClient[*corev1.ConfigMapList] { return c }, opts)
	}, made()
}

// dynamic makes informers of unstructured objects, over a client that has the transport.
func (s *drops) dynamic(t *testing.T) maker {
	config := rest.CopyConfig(s.config)
	config.Wrap(listwatch.Wrap)
	httpClient := client.Must(rest.HTTPClientFor(config))
	t.Cleanup(httpClient.CloseIdleConnections)
	c := client.Must(dynamic.NewForConfigAndClient(config, httpClient)).
		Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("shop")
	return func(lists bool) cache.SharedIndexInformer {
		plain := &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return c.List(ctx, opts)
			},
			WatchFuncWithContext: c.Watch,
		}
		var lw cache.ListerWatcher = plain
		if lists {
			lw = listing{ListWatch: plain}
		}
		return kwcache.NewSharedIndexInformerWithOptions(listwatch.Streamed(lw, nil), &unstructured.Unstructured{},
			cache.SharedIndexInformerOptions{})
	}
}

// cached is what an informer has cached, and how it has read that.
type cached struct {
	requests []accepted
	objects  []any
	status   informer.Status
}

// sync runs an informer until it has received a list and a change.
func (s *drops) sync(t *testing.T, i cache.SharedIndexInformer, options informer.Options) (c cached) {
	t.Helper()
	if err := informer.Configure(i, options); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{})
	handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { changed <- struct{}{} }}
	if _, err := i.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	stop := run(i)
	defer stop()
	if err := informer.WaitForSync(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	s.objects.Update(owned("first"))
	<-changed
	c = cached{requests: s.took(), objects: i.GetStore().List()}
	c.status, _ = informer.StatusOf(i)
	return c
}

// hasManagedFields reports whether an object has them.
func (c cached) hasManagedFields() bool {
	return slices.ContainsFunc(c.objects, func(obj any) bool {
		return len(obj.(metav1.Object).GetManagedFields()) > 0
	})
}

// expectStreams fails if anything wasn't streamed.
func (c cached) expectStreams(t *testing.T) {
	t.Helper()
	if r := c.status.Reading; r.Streamed == 0 || r.Whole > 0 || r.NotStreamed != "" {
		t.Errorf("%+v", r)
	}
}

var onlyManagedFields = []string{"metadata.managedFields"}

// eachMaker tests informers over generated and dynamic clients, which list in both ways.
func eachMaker(t *testing.T, accept string, test func(t *testing.T, s *drops, of maker, lists bool)) {
	for _, lists := range []bool{true, false} {
		t.Run(fmt.Sprintf("lists=%t/generated", lists), func(t *testing.T) {
			s := serveDrops(t, accept)
			of, _ := s.generated(t)
			test(t, s, of, lists)
		})
		t.Run(fmt.Sprintf("lists=%t/dynamic", lists), func(t *testing.T) {
			s := serveDrops(t, "")
			test(t, s, s.dynamic(t), lists)
		})
	}
}

// TestServerDrop checks that an informer that drops only managedFields asks the server to leave them out, in
// lists and watches alone, and caches the same objects whatever the server does.
func TestServerDrop(t *testing.T) {
	eachMaker(t, "application/json;q=0.9, */*;q=0.8", func(t *testing.T, s *drops, of maker, lists bool) {
		plain := s.sync(t, of(lists), informer.Options{})
		if plain.status.Reading.DropSent || !plain.hasManagedFields() {
			t.Errorf("without the option: %+v", plain)
		}
		ignored := s.sync(t, of(lists), informer.Options{Drop: onlyManagedFields})
		s.honours.Store(true)
		honoured := s.sync(t, of(lists), informer.Options{Drop: slices.Repeat(onlyManagedFields, 2)})
		for _, c := range []cached{ignored, honoured} {
			c.expectStreams(t)
			if !c.status.Reading.DropSent || c.hasManagedFields() || len(c.objects) != 1 {
				t.Errorf("%+v", c)
			}
			if len(c.requests) != len(plain.requests) {
				t.Fatalf("%v, without the option %v", c.requests, plain.requests)
			}
			for n, r := range c.requests {
				if types := strings.Count(r.accept, "/"); r.without() != plain.requests[n] ||
					strings.Count(r.accept, dropParameter) != types {
					t.Errorf("%v, without the option %v", r, plain.requests[n])
				}
			}
		}
		a, b := ignored.objects[0].(metav1.Object), honoured.objects[0].(metav1.Object)
		b.SetResourceVersion(a.GetResourceVersion()) // Nobody else has the object.
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%v, if the server leaves them out %v", a, b)
		}
	})
}

// TestDropAnnotations checks that an informer that drops annotations syncs: one of them ends a watch-list.
func TestDropAnnotations(t *testing.T) {
	eachMaker(t, "", func(t *testing.T, s *drops, of maker, lists bool) {
		c := s.sync(t, of(lists), informer.Options{Drop: []string{"metadata.annotations"}})
		if len(c.objects) != 1 || c.objects[0].(metav1.Object).GetAnnotations() != nil {
			t.Errorf("cached %v", c.objects)
		}
	})
}

// TestServerDropUnasked checks that no request changes unless managedFields are all that is dropped, the
// informer streams, and NoServerDrop isn't set.
func TestServerDropUnasked(t *testing.T) {
	more := []string{"metadata.managedFields", "data"}
	for name, options := range map[string]informer.Options{
		"nothing":      {ShareValues: true},
		"more":         {Drop: more},
		"others":       {Drop: []string{"data"}},
		"a part":       {Drop: []string{"metadata.managedFields.fieldsV1"}},
		"all metadata": {Drop: []string{"metadata.annotations", "metadata.managedFields"}},
		"metadata":     {Drop: onlyManagedFields, MetadataOnly: true},
		"turned off":   {Drop: onlyManagedFields, NoServerDrop: true},
		"not streamed": {Drop: onlyManagedFields, NoStreams: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveDrops(t, "")
			of, _ := s.generated(t)
			plain := s.sync(t, of(true), informer.Options{})
			c := s.sync(t, of(true), options)
			if !slices.Equal(c.requests, plain.requests) || c.status.Reading.DropSent {
				t.Errorf("%v, without options %v; %+v", c.requests, plain.requests, c.status.Reading)
			}
			drops := slices.Contains(options.Drop, onlyManagedFields[0]) && !options.NoStreams
			if drops == c.hasManagedFields() {
				t.Errorf("cached %v", c.objects)
			}
		})
	}
}

// TestServerDropRefused checks that a request that the server refuses is sent again at once, without asking,
// that no other request of the client asks then, and that all is streamed.
func TestServerDropRefused(t *testing.T) {
	for _, refused := range []string{"LIST", "WATCH"} {
		t.Run(refused, func(t *testing.T) {
			eachMaker(t, "", func(t *testing.T, s *drops, of maker, lists bool) {
				if !lists && refused == "LIST" {
					t.Skip("there is no such request")
				}
				plain := s.sync(t, of(lists), informer.Options{})
				s.refuses = func(verb string, asked bool) bool { return verb == refused && asked }
				asked := 0
				for n := range 3 {
					c := s.sync(t, of(lists), informer.Options{Drop: onlyManagedFields})
					c.expectStreams(t)
					if c.status.Reading.DropSent || c.hasManagedFields() || c.status.LastError != nil {
						t.Errorf("%+v", c)
					}
					var without []accepted
					for k, r := range c.requests {
						if r.asks() {
							asked++
							if r.verb == refused {
								if again := c.requests[k+1]; again != r.without() {
									t.Errorf("after the refusal: %v", again)
								}
								continue
							}
						}
						without = append(without, r.without())
					}
					if !slices.Equal(without, plain.requests) {
						t.Errorf("%d: %v, without the option %v", n, c.requests, plain.requests)
					}
				}
				want := 1
				if lists && refused == "WATCH" {
					want = 2 // The list before it was granted.
				}
				if asked != want {
					t.Errorf("%d requests asked, want %d", asked, want)
				}
			})
		})
	}
}

// TestServerDropLiveReads checks that requests of others with the same client don't change.
func TestServerDropLiveReads(t *testing.T) {
	s := serveDrops(t, "")
	of, c := s.generated(t)
	read := func() []accepted {
		t.Helper()
		if _, err := c.Get(t.Context(), "first", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := c.Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.Stop()
		return s.took()
	}
	before := read()
	s.sync(t, of(true), informer.Options{Drop: onlyManagedFields})
	if after := read(); !slices.Equal(after, before) || len(after) != 3 {
		t.Errorf("%v, before %v", after, before)
	}
}
