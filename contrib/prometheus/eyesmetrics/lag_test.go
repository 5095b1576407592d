package eyesmetrics_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// changes is a server without config maps in this process, and the watch of it that is open.
type changes struct{ watch chan *io.PipeWriter }

func (c changes) RoundTrip(req *http.Request) (*http.Response, error) {
	response := &http.Response{StatusCode: http.StatusOK, Request: req, Body: http.NoBody,
		Header: http.Header{"Content-Type": {"application/json"}}}
	switch query := req.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		response.StatusCode = http.StatusUnprocessableEntity
	case query.Get("watch") == "":
		response.Body = io.NopCloser(strings.NewReader(
			`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`))
	default:
		body, events := io.Pipe()
		context.AfterFunc(req.Context(), func() { events.CloseWithError(io.EOF) })
		response.Body = body
		c.watch <- events
	}
	return response, nil
}

// start runs an informer of the server, and returns its watch.
func (c changes) start(t *testing.T) (cache.SharedIndexInformer, io.Writer) {
	made, err := dynamic.NewForConfigAndClient(&rest.Config{Host: "http://server.example", QPS: -1},
		&http.Client{Transport: listwatch.Wrap(c)})
	if err != nil {
		t.Fatal(err)
	}
	maps := made.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	i := kwcache.NewSharedIndexInformerWithOptions(listwatch.Streamed(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, opts)
		},
		WatchFuncWithContext: maps.Watch,
	}, nil), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{})
	if err := informer.Configure(i, informer.Options{Drop: []string{"metadata.managedFields"}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return i, <-c.watch
}

type several []cache.SharedInformer

func (s several) Statuses() (statuses []informer.Status) {
	for _, i := range s {
		status, _ := informer.StatusOf(i)
		statuses = append(statuses, status)
	}
	return statuses
}

// TestLag checks the histogram, from the wire on, and that informers with the same labels are one.
func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := changes{make(chan *io.PipeWriter, 1)}
		one, events := server.start(t)
		other, otherEvents := server.start(t)
		e := eyes.New(eyes.Options{})
		e.AddCaches("shop", several{one, other})
		registry := prometheus.NewRegistry()
		registry.MustRegister(eyesmetrics.New(e))
		const name = "kubewright_informer_lag_seconds"
		if n, err := testutil.GatherAndCount(registry, name); n != 0 || err != nil {
			t.Errorf("%d series, %v before anything has changed", n, err)
		}
		for n, age := range []time.Duration{0, time.Second, 4 * time.Second, time.Hour} {
			at := time.Now().UTC().Add(-age).Format(time.RFC3339)
			fmt.Fprintf([]io.Writer{events, otherEvents}[n%2], `{"type":"ADDED","object":{"kind":"ConfigMap",`+
				`"apiVersion":"v1","metadata":{"name":"a%d","namespace":"ns","resourceVersion":"%d",`+
				`"managedFields":[{"time":%q}]}}}`, n, 2+n, at)
		}
		bubble.Advance(time.Second)
		want := "# HELP " + name + " How old objects were when watches delivered that they were added or " +
			"modified, since the first scrape\n# TYPE " + name + " histogram\n"
		const labels = `form="unstructured",group="",resource="configmaps",source="shop",version="v1"`
		for _, bucket := range []string{"0.5 1", "1 2", "2.5 2", "5 3", "10 3", "30 3", "60 3", "120 3", "300 3",
			"+Inf 4"} {
			le, count, _ := strings.Cut(bucket, " ")
			want += fmt.Sprintf("%s_bucket{%s,le=%q} %s\n", name, labels, le, count)
		}
		want += fmt.Sprintf("%s_sum{%s} 3605\n%s_count{%s} 4\n", name, labels, name, labels)
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), name); err != nil {
			t.Error(err)
		}
		problems, err := testutil.GatherAndLint(registry)
		if err != nil || len(problems) > 0 {
			t.Errorf("promlint: %v, %v", problems, err)
		}
	})
}
