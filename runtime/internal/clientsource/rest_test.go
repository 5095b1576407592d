package clientsource_test

import (
	"compress/gzip"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	kubeclient "github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

type configMaps = kubeclient.ClientWithList[*corev1.ConfigMap, *corev1.ConfigMapList]

// configMapClient returns a client of config maps like a generated clientset's, for a server with a handler.
func configMapClient(t *testing.T, handler http.HandlerFunc, adjust ...func(*rest.Config)) *configMaps {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"}, BearerToken: "secret", QPS: -1}
	for _, f := range adjust {
		f(config)
	}
	group := kubeclient.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpClient.CloseIdleConnections)
	c, err := group.RESTClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	return kubeclient.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](c, scheme.ParameterCodec,
		"configmaps", "ns")
}

// bothSources returns two sources of the same resource: streamed, and read by client-go.
func bothSources(c *configMaps) map[string]sources.Source {
	source := func(off bool) sources.Source {
		return clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
			func() sources.Client[*corev1.ConfigMapList] { return c },
			clientsource.Options{Decoding: sources.Decoding{Off: off}})
	}
	return map[string]sources.Source{"streamed": source(false), "plain": source(true)}
}

const configMap = `{"metadata":{"name":"a","namespace":"ns","resourceVersion":"5","labels":{"x":"y"}},` +
	`"data":{"k":"v\u00e9"}}`

// reply is one response of a server, and its expected result.
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
	listHead = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9",` +
		`"continue":"more"},"items":[`
	gone = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old",` +
		`"reason":"Expired","code":410}`
)

// event returns a line of a watch.
func event(typ, object string) string {
	return fmt.Sprintf(`{"type":%q,"object":%s}`+"\n", typ, object)
}

var (
	watchedMap = strings.Replace(configMap, "{", `{"kind":"ConfigMap","apiVersion":"v1",`, 1)
	bookmark   = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7",` +
		`"annotations":{"k8s.io/initial-events-end":"true"}}}`
)

// listOutcome is the result of a list.
type listOutcome struct {
	items []*corev1.ConfigMap
	meta  sources.ListMeta
	err   error
}

func readList(t *testing.T, source sources.Source) (l listOutcome) {
	l.meta, l.err = each(t.Context(), source, metav1.ListOptions{}, func(obj any) error {
		l.items = append(l.items, obj.(*corev1.ConfigMap))
		return nil
	})
	return l
}

// watchOutcome has the events of a watch, and the error that ends it.
type watchOutcome struct {
	events []sources.Event
	end    error
}

func readWatch(t *testing.T, source sources.Source) (w watchOutcome) {
	stream, err := source.Watch(t.Context(), metav1.ListOptions{})
	for err == nil {
		var e sources.Event
		if e, err = stream.Next(t.Context()); err == nil {
			w.events = append(w.events, e)
		}
	}
	if stream != nil {
		stream.Stop()
		stream.Stop()
	}
	w.end = err
	return w
}

// TestRESTRequests checks that servers can't distinguish the two sources.
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
	opts := metav1.ListOptions{LabelSelector: "a=b", Limit: 3, ResourceVersion: "1", TimeoutSeconds: &seconds,
		AllowWatchBookmarks: true}
	for _, source := range bothSources(c) {
		collect[*corev1.ConfigMap](t, source, opts)
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

// TestRESTResponses checks that warnings reach their handler, and that gzip is decoded.
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
	items, meta := collect[*corev1.ConfigMap](t, bothSources(c)["streamed"], metav1.ListOptions{})
	if len(items) != 1 || items[0].Data["k"] != "v\u00e9" ||
		meta != (sources.ListMeta{ResourceVersion: "9", Continue: "more"}) {
		t.Errorf("items %v, meta %v", items, meta)
	}
	if warnings.n != 1 {
		t.Errorf("%d warnings", warnings.n)
	}
}

type countingWarnings struct{ n int }

func (w *countingWarnings) HandleWarningHeader(int, string, string) { w.n++ }

// TestStreamsOff checks that streams can be turned off, by the environment and by an option: then no item is
// passed on before the list is complete.
func TestStreamsOff(t *testing.T) {
	for name, off := range map[string]func(*testing.T) string{
		"option": func(*testing.T) string { return "plain" },
		"environment": func(t *testing.T) string {
			t.Setenv("KUBEWRIGHT_STREAMING", "false")
			return "streamed"
		},
	} {
		t.Run(name, func(t *testing.T) {
			which := off(t)
			c := configMapClient(t, reply{body: listHead + configMap + ",", cut: true}.serve)
			_, err := each(t.Context(), bothSources(c)[which], metav1.ListOptions{}, func(any) error {
				t.Error("an item of an incomplete list")
				return nil
			})
			if err == nil {
				t.Error("the list was cut")
			}
		})
	}
}
