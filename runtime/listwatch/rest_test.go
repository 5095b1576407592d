package listwatch_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	kubeclient "github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

type configMaps = kubeclient.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList]

// configMapClient is a client of config maps at a server that answers as
// handler does, as a generated clientset has it.
func configMapClient(t *testing.T, handler http.HandlerFunc, adjust ...func(*rest.Config)) *configMaps {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, BearerToken: "secret", QPS: -1}
	for _, f := range adjust {
		f(config)
	}
	group := kubeclient.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme, Codecs: scheme.Codecs}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	c, err := group.RESTClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return kubeclient.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](c, scheme.ParameterCodec, "configmaps", "ns")
}

// sources are the same resource, streamed and read by client-go.
func sources(c *configMaps) map[string]listwatch.Source[*corev1.ConfigMap] {
	source := func(off bool) listwatch.Source[*corev1.ConfigMap] {
		return listwatch.FromClient[*corev1.ConfigMap](
			func() listwatch.Client[*corev1.ConfigMapList] { return c }, listwatch.ClientOptions{Decoding: listwatch.DecodingOptions{Off: off}})
	}
	return map[string]listwatch.Source[*corev1.ConfigMap]{"streamed": source(false), "plain": source(true)}
}

const configMap = `{"metadata":{"name":"a","namespace":"ns","resourceVersion":"5","labels":{"x":"y"}},"data":{"k":"v\u00e9"}}`

// reply is one response of a server, and what becomes of it.
type reply struct {
	name    string
	status  int
	headers map[string]string
	body    string
	// cut ends the connection after the body, as if more were to come.
	cut bool
}

func (r reply) serve(w http.ResponseWriter, _ *http.Request) {
	if w.Header().Set("Content-Type", "application/json"); r.headers != nil {
		for k, v := range r.headers {
			w.Header().Set(k, v)
		}
	}
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	io.WriteString(w, r.body)
	if r.cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

const (
	listHead = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"more"},"items":[`
	gone     = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`
)

var lists = []reply{
	{name: "items", body: listHead + configMap + "," + configMap + "]}\n"},
	{name: "no items", body: listHead + "]}"},
	{name: "null items", body: `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":null}`},
	{name: "other order", body: `{"items":[` + configMap + `],"metadata":{"resourceVersion":"9"},"apiVersion":"v1","kind":"ConfigMapList"}`},
	{name: "without kind", body: `{"metadata":{"resourceVersion":"9"},"items":[` + configMap + `]}`},
	{name: "items with kinds", body: listHead + strings.Replace(configMap, "{", `{"kind":"ConfigMap","apiVersion":"v1",`, 1) + "]}"},
	{name: "unknown fields", body: `{"zzz":[1,{"a":12}],` + listHead[1:] + strings.Replace(configMap, "{", `{"foo":[{}],`, 1) + `],"n":12}`},
	{name: "white space", body: " " + strings.ReplaceAll(listHead, ",", " ,\n") + " " + configMap + " \n,\t" + configMap + " ] } \n"},
	{name: "charset", headers: map[string]string{"Content-Type": "application/json; charset=utf-8"}, body: listHead + configMap + "]}"},
	{name: "a warning", headers: map[string]string{"Warning": `299 - "old"`}, body: listHead + configMap + "]}"},
	{name: "other kind", body: `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`},
	{name: "unregistered kind", body: `{"kind":"Nothing","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`},
	{name: "table", body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"rows":[]}`},
	{name: "status success", body: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`},
	{name: "status failure with 200", body: gone},
	{name: "expired", status: 410, body: gone},
	{name: "too many requests", status: 429, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}`},
	{name: "forbidden", status: 403, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`},
	{name: "unauthorized", status: 401, headers: map[string]string{"Content-Type": "text/plain"}, body: "who?"},
	{name: "internal error", status: 500, headers: map[string]string{"Content-Type": "text/html"}, body: "<p>oh</p>"},
	{name: "other success", status: 203, body: listHead + configMap + "]}"},
	{name: "no content type", headers: map[string]string{"Content-Type": ""}, body: listHead + configMap + "]}"},
	{name: "other content type", headers: map[string]string{"Content-Type": "text/plain"}, body: listHead + configMap + "]}"},
	{name: "yaml", headers: map[string]string{"Content-Type": "application/yaml"}, body: "kind: ConfigMapList\napiVersion: v1\nitems:\n- metadata: {name: a}\n"},
	{name: "empty", body: ""},
	{name: "truncated in an item", body: listHead + configMap + "," + configMap[:60]},
	{name: "truncated between items", body: listHead + configMap + ","},
	{name: "truncated after items", body: listHead + configMap + "]"},
	{name: "cut", body: listHead + configMap + ",", cut: true},
	{name: "no JSON", body: "hello"},
	{name: "no object", body: "[]"},
	{name: "bad item", body: listHead + configMap + `,{"metadata":{"name":7}}]}`},
	{name: "bad syntax", body: listHead + configMap + `,}`},
	{name: "bad syntax in what is skipped", body: listHead + `{"foo":{"a":tru}}]}`},
	{name: "garbage behind", body: listHead + configMap + "]}x"},
	{name: "metadata of another type", body: `{"kind":"ConfigMapList","apiVersion":"v1","metadata":[],"items":[]}`},
}

// What a list gives is the same, streamed or not.
func TestRESTList(t *testing.T) {
	for _, r := range lists {
		t.Run(r.name, func(t *testing.T) {
			c := configMapClient(t, r.serve, withoutWarnings)
			type outcome struct {
				items []*corev1.ConfigMap
				meta  listwatch.ListMeta
				err   error
			}
			got := map[string]outcome{}
			for name, source := range sources(c) {
				var o outcome
				o.meta, o.err = source.List(t.Context(), metav1.ListOptions{}, func(obj *corev1.ConfigMap) error {
					o.items = append(o.items, obj)
					return nil
				})
				got[name] = o
			}
			streamed, plain := got["streamed"], got["plain"]
			if (streamed.err == nil) != (plain.err == nil) {
				t.Fatalf("streamed: %v, plain: %v", streamed.err, plain.err)
			}
			if plain.err != nil {
				if apierrors.ReasonForError(streamed.err) != apierrors.ReasonForError(plain.err) {
					t.Errorf("streamed: %v, plain: %v", streamed.err, plain.err)
				}
				return
			}
			if !reflect.DeepEqual(streamed, plain) {
				t.Errorf("streamed: %v, plain: %v", streamed, plain)
			}
		})
	}
}

func withoutWarnings(c *rest.Config) { c.WarningHandler = rest.NoWarnings{} }

// event is a line of a watch.
func event(typ, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", typ, object)
}

var (
	watchedMap = strings.Replace(configMap, "{", `{"kind":"ConfigMap","apiVersion":"v1",`, 1)
	bookmark   = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}`
)

var watches = []reply{
	{name: "events", body: event("ADDED", watchedMap) + event("MODIFIED", watchedMap) + event("BOOKMARK", bookmark) + event("DELETED", watchedMap)},
	{name: "no new lines", body: strings.ReplaceAll(event("ADDED", watchedMap)+event("MODIFIED", watchedMap), "\n", "")},
	{name: "other order", body: `{"object":` + watchedMap + `,"type":"ADDED"}`},
	{name: "expired", body: event("ADDED", watchedMap) + event("ERROR", gone)},
	{name: "nothing", body: ""},
	{name: "error of another kind", body: event("ERROR", watchedMap)},
	{name: "unregistered kind", body: event("ADDED", `{"kind":"Nothing","apiVersion":"v1"}`)},
	{name: "no kind", body: event("ADDED", configMap)},
	{name: "no object", body: `{"type":"ADDED"}`},
	{name: "invalid type", body: event("CHANGED", watchedMap)},
	{name: "bad object", body: event("ADDED", watchedMap) + event("ADDED", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":7}}`)},
	{name: "no JSON", body: event("ADDED", watchedMap) + "hello"},
	{name: "truncated", body: event("ADDED", watchedMap) + event("ADDED", watchedMap)[:80]},
	{name: "cut between events", body: event("ADDED", watchedMap), cut: true},
	{name: "cut in an event", body: event("ADDED", watchedMap) + event("ADDED", watchedMap)[:80], cut: true},
	{name: "refused", status: 403, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`},
	{name: "expired at once", status: 410, body: gone},
	{name: "other content type", headers: map[string]string{"Content-Type": "text/plain"}, body: event("ADDED", watchedMap)},
}

// What a watch gives is the same, streamed or not.
func TestRESTWatch(t *testing.T) {
	for _, r := range watches {
		t.Run(r.name, func(t *testing.T) {
			c := configMapClient(t, r.serve)
			type outcome struct {
				events []listwatch.Event[*corev1.ConfigMap]
				end    error
			}
			got := map[string]outcome{}
			for name, source := range sources(c) {
				var o outcome
				stream, err := source.Watch(t.Context(), metav1.ListOptions{})
				for err == nil {
					var e listwatch.Event[*corev1.ConfigMap]
					if e, err = stream.Next(t.Context()); err == nil {
						o.events = append(o.events, e)
					}
				}
				if stream != nil {
					stream.Stop()
					stream.Stop()
				}
				o.end = err
				got[name] = o
			}
			streamed, plain := got["streamed"], got["plain"]
			if !reflect.DeepEqual(streamed.events, plain.events) {
				t.Errorf("streamed: %v, plain: %v", streamed.events, plain.events)
			}
			if (streamed.end == io.EOF) != (plain.end == io.EOF) || apierrors.ReasonForError(streamed.end) != apierrors.ReasonForError(plain.end) {
				t.Errorf("ended streamed: %v, plain: %v", streamed.end, plain.end)
			}
		})
	}
}

// Servers can't tell the two apart.
func TestRESTRequests(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		var headers []string
		for k, v := range r.Header {
			headers = append(headers, fmt.Sprint(k, v))
		}
		slices.Sort(headers)
		seen = append(seen, fmt.Sprint(r.Method, r.URL, headers))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, listHead+"]}")
	})
	seconds := int64(7)
	opts := metav1.ListOptions{LabelSelector: "a=b", Limit: 3, ResourceVersion: "1", TimeoutSeconds: &seconds, AllowWatchBookmarks: true}
	for _, source := range sources(c) {
		collect(t, source, opts)
		stream, err := source.Watch(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		stream.Stop()
	}
	if len(seen) != 4 || seen[0] != seen[2] || seen[1] != seen[3] {
		t.Errorf("requests: %q", seen)
	}
}

// Warnings go to their handler, and gzip is understood.
func TestRESTResponses(t *testing.T) {
	warnings := &countingWarnings{}
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "deprecated"`)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		io.WriteString(z, listHead+configMap+"]}")
	}, func(c *rest.Config) { c.WarningHandler = warnings })
	items, meta := collect(t, sources(c)["streamed"], metav1.ListOptions{})
	if len(items) != 1 || items[0].Data["k"] != "v\u00e9" || meta != (listwatch.ListMeta{ResourceVersion: "9", Continue: "more"}) {
		t.Errorf("items %v, meta %v", items, meta)
	}
	if warnings.n != 1 {
		t.Errorf("%d warnings", warnings.n)
	}
}

type countingWarnings struct{ n int }

func (w *countingWarnings) HandleWarningHeader(int, string, string) { w.n++ }

// The first items are there before the last, and an item's receiver may end the
// list.
func TestRESTListStreams(t *testing.T) {
	received := make(chan struct{})
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, listHead+configMap+",")
		w.(http.Flusher).Flush()
		<-received
		io.WriteString(w, configMap+"]}")
	})
	enough := errors.New("enough")
	n := 0
	_, err := sources(c)["streamed"].List(t.Context(), metav1.ListOptions{}, func(*corev1.ConfigMap) error {
		if n++; n == 1 {
			close(received)
			return nil
		}
		return enough
	})
	if err != enough || n != 2 {
		t.Errorf("%d items, %v", n, err)
	}
}

// A blocked Next returns when its context is done, and when the stream is
// stopped.
func TestRESTWatchEnds(t *testing.T) {
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, event("ADDED", watchedMap))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	for name, source := range sources(c) {
		t.Run(name, func(t *testing.T) {
			stream, err := source.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			if e, err := stream.Next(ctx); err != nil || e.Type != watch.Added || e.ResourceVersion != "5" {
				t.Fatalf("%v, %v", e, err)
			}
			ended := make(chan error)
			go func() {
				_, err := stream.Next(ctx)
				ended <- err
			}()
			cancel()
			if err := <-ended; err != context.Canceled {
				t.Errorf("after cancel: %v", err)
			}
			stream.Stop()

			stream, err = source.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			go func() {
				_, err := stream.Next(t.Context())
				ended <- err
			}()
			stream.Stop()
			if err := <-ended; err != io.EOF {
				t.Errorf("after Stop: %v", err)
			}
		})
	}
}

// Streams can be turned off, by the environment and by an option: no item is
// handed over then before the list is complete.
func TestStreamsOff(t *testing.T) {
	for name, off := range map[string]func(*testing.T) string{
		"option":      func(*testing.T) string { return "plain" },
		"environment": func(t *testing.T) string { t.Setenv(listwatch.StreamingVariable, "false"); return "streamed" },
	} {
		t.Run(name, func(t *testing.T) {
			which := off(t)
			c := configMapClient(t, reply{body: listHead + configMap + ",", cut: true}.serve)
			_, err := sources(c)[which].List(t.Context(), metav1.ListOptions{}, func(*corev1.ConfigMap) error {
				t.Error("an item of an incomplete list")
				return nil
			})
			if err == nil {
				t.Error("the list was cut")
			}
		})
	}
}
