package eyes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// wire is a server of config maps in this process. A list, or the initial events of a watch, has one, which
// was written long ago; the test sends the events.
type wire struct {
	lists bool
	mu    sync.Mutex
	watch *io.PipeWriter
}

const (
	end     = `{"annotations":{"` + metav1.InitialEventsAnnotationKey + `":"true"},"resourceVersion":"2"}`
	longAgo = "1990-01-01T00:00:00Z"
)

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	response := &http.Response{StatusCode: http.StatusOK, Request: req, Body: http.NoBody,
		Header: http.Header{"Content-Type": {"application/json"}}}
	query := req.URL.Query()
	switch initial := query.Get("sendInitialEvents") != ""; {
	case initial && w.lists:
		response.StatusCode = http.StatusUnprocessableEntity
	case query.Get("watch") == "":
		response.Body = io.NopCloser(strings.NewReader(`{"kind":"ConfigMapList","apiVersion":"v1",` +
			`"metadata":{"resourceVersion":"2"},"items":[` + changed(longAgo) + `]}`))
	default:
		body, events := io.Pipe()
		context.AfterFunc(req.Context(), func() { events.CloseWithError(io.EOF) })
		w.mu.Lock()
		defer w.mu.Unlock()
		w.watch, response.Body = events, body
		if initial {
			go fmt.Fprintf(events, `{"type":"ADDED","object":%s}`+
				`{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":%s}}`,
				changed(longAgo), end)
		}
	}
	return response, nil
}

// changed returns a config map that was written at a time.
func changed(at string) string {
	return withMetadata(`"managedFields":[{"time":"` + at + `","fieldsV1":{}},{"time":"` + longAgo + `"}]`)
}

func withMetadata(more string) string {
	return `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns",` +
		`"resourceVersion":"3",` + more + `}}`
}

func (w *wire) send(eventType, object string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.watch, `{"type":%q,"object":%s}`, eventType, object)
}

// typed and dynamic return informers.
func (w *wire) typed(t *testing.T) cache.SharedIndexInformer {
	config := &rest.Config{Host: "http://server.example", QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	group := client.Group{Version: corev1.SchemeGroupVersion, APIPath: "/api", Scheme: scheme.Scheme,
		Codecs: scheme.Codecs}
	c := client.NewWithList[*corev1.ConfigMap, *corev1.ConfigMapList](
		client.Must(group.RESTClient(config, &http.Client{Transport: w})), scheme.ParameterCodec, "configmaps", "")
	return gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return c }, gen.Options{})
}

func (w *wire) dynamic(*testing.T) cache.SharedIndexInformer {
	c := client.Must(dynamic.NewForConfigAndClient(&rest.Config{Host: "http://server.example", QPS: -1},
		&http.Client{Transport: listwatch.Wrap(w)})).Resource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return c.List(ctx, opts)
		},
		WatchFuncWithContext: c.Watch,
	}
	return kwcache.NewSharedIndexInformerWithOptions(listwatch.Streamed(lw, nil), &unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{})
}

// runs runs an informer until the end of the test, and returns eyes that look at it.
func runs(t *testing.T, i cache.SharedIndexInformer, options informer.Options) *eyes.Eyes {
	if err := informer.Configure(i, options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	synctest.Wait()
	e := eyes.New(eyes.Options{})
	e.AddInformer("shop", i)
	return e
}

// after returns a time that many seconds from now.
func after(seconds int) string {
	return time.Now().UTC().Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
}

var noManagedFields = informer.Options{Drop: []string{"metadata.managedFields"}}

// TestLag checks which events count, from when on, and what a snapshot and its text have of them.
func TestLag(t *testing.T) {
	for name, made := range map[string]func(*wire, *testing.T) cache.SharedIndexInformer{
		"typed": (*wire).typed, "dynamic": (*wire).dynamic,
	} {
		for _, options := range []informer.Options{
			{}, noManagedFields, {Drop: noManagedFields.Drop, ShareValues: true},
		} {
			for _, lists := range []bool{false, true} {
				t.Run(fmt.Sprint(name, options.Drop, options.ShareValues, lists), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := &wire{lists: lists}
						e := runs(t, made(w, t), options)
						w.send("MODIFIED", changed(after(-7)))
						bubble.Advance(30 * time.Second)
						for _, want := range []string{"it is counted once somebody has asked for it",
							"no change has arrived since counting began"} {
							if i := e.Snapshot().Informers[0]; i.Lag != nil || i.LagUnknown != want {
								t.Errorf("lag %v, unknown because %q, want %q", i.Lag, i.LagUnknown, want)
							}
						}
						since := time.Now()
						bubble.Advance(10 * time.Second)
						w.send("ADDED", changed(after(-3)))
						w.send("MODIFIED", changed(after(5)))
						w.send("MODIFIED", changed(after(-400)))
						w.send("DELETED", changed(after(-60)))
						w.send("MODIFIED", withMetadata(`"deletionTimestamp":"`+longAgo+`",
							"managedFields":[{"time":"`+longAgo+`"}]`))
						w.send("MODIFIED", withMetadata(`"labels":{}`))
						synctest.Wait()
						s := e.Snapshot()
						got := s.Informers[0].Lag
						want := &eyes.Lag{Since: since.Local(), Objects: 3, Seconds: 403, Median: 3.75, P99: 300,
							Buckets: []eyes.LagBucket{{UpTo: .5, Objects: 1}, {UpTo: 1}, {UpTo: 2.5},
								{UpTo: 5, Objects: 1}, {UpTo: 10}, {UpTo: 30}, {UpTo: 60}, {UpTo: 120}, {UpTo: 300},
								{Objects: 1}}}
						if got == nil || !got.Since.Equal(want.Since) {
							t.Fatalf("%+v", got)
						}
						if want.Since = got.Since; !reflect.DeepEqual(got, want) {
							t.Errorf("got %+v, want %+v", got, want)
						}
						var text strings.Builder
						if err := s.WriteText(&text); err != nil || !strings.Contains(text.String(), " 3.8s >300s ") {
							t.Errorf("%v\n%s", err, &text)
						}
						if text, err := json.Marshal(got); err != nil ||
							!strings.HasSuffix(string(text), `{"upTo":300,"objects":0},{"objects":1}]}`) {
							t.Errorf("%v, %s", err, text)
						}
					})
				})
			}
		}
	}
}

// TestLagUnknown checks the reasons why there is no lag.
func TestLagUnknown(t *testing.T) {
	for name, test := range map[string]struct {
		options informer.Options
		want    string
	}{
		"no times":         {informer.Options{}, "objects have no times in metadata.managedFields"},
		"the server drops": {noManagedFields, "the server leaves metadata.managedFields out, as it was asked to"},
		"not asked": {informer.Options{Drop: noManagedFields.Drop, NoServerDrop: true},
			"objects have no times in metadata.managedFields"},
		"not decoded": {informer.Options{NoStreams: true},
			"watches aren't decoded by kubewright: the option NoStreams turns streams off"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{}
				e := runs(t, w.typed(t), test.options)
				e.Snapshot()
				w.send("MODIFIED", withMetadata(`"labels":{}`))
				synctest.Wait()
				if i := e.Snapshot().Informers[0]; i.Lag != nil || i.LagUnknown != test.want {
					t.Errorf("lag %v, unknown because %q, want %q", i.Lag, i.LagUnknown, test.want)
				}
			})
		})
	}
}
