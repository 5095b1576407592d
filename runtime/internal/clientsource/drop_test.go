package clientsource_test

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// asked records which requests ask the server to leave managedFields out.
type asked struct {
	mu    sync.Mutex
	paths []string
	asks  []bool
}

func (a *asked) note(req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths = append(a.paths, req.URL.Path)
	a.asks = append(a.asks, strings.Contains(req.Header.Get("Accept"), ";drop=metadata.managedFields"))
}

// dropping makes a source drop fields.
func dropping(t *testing.T, source sources.Source, fields ...string) sources.Source {
	t.Helper()
	configurable := source.(interface {
		Configure(sources.Decoding, *listwatch.Limiter, func(*metav1.ListOptions)) bool
	})
	if !configurable.Configure(sources.Decoding{Drop: fields}, nil, nil) {
		t.Fatal("the source doesn't stream")
	}
	return source
}

// TestDropRefusedAnyway checks that the error of a server that refuses the request in any case is returned,
// and that only the first request is sent twice.
func TestDropRefusedAnyway(t *testing.T) {
	var got asked
	c := configMapClient(t, func(w http.ResponseWriter, req *http.Request) {
		got.note(req)
		w.WriteHeader(http.StatusNotAcceptable)
	})
	// The sources of one client share what they know.
	for range 3 {
		source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](),
			func() sources.Client[*corev1.ConfigMapList] { return c },
			clientsource.Options{Decoding: sources.Decoding{Drop: []string{"metadata.managedFields"}}})
		if l := readList(t, source); !apierrors.IsNotAcceptable(l.err) {
			t.Errorf("%v", l.err)
		}
		if reading := readingOf(source); reading.DropSent {
			t.Errorf("%+v", reading)
		}
	}
	if want := []bool{true, false, false, false}; !slices.Equal(got.asks, want) {
		t.Errorf("asked %v", got.asks)
	}
}

// TestDropOnlyLists checks that a list function's other requests don't ask.
func TestDropOnlyLists(t *testing.T) {
	var got asked
	client := restClient(t, func(w http.ResponseWriter, req *http.Request) {
		got.note(req)
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		if req.URL.Path == "/api/v1/namespaces/ns" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		io.WriteString(w,
			`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}`)
	}, true)
	source := dropping(t, listing(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		client.Get().AbsPath("/api/v1/namespaces/ns").Do(ctx)
		client.Post().AbsPath("/api/v1/configmaps").Do(ctx)
		return maps(client).ListWithContextFunc(ctx, opts)
	}), "metadata.managedFields")
	if l := readList(t, source); l.err != nil {
		t.Fatal(l.err)
	}
	if want := []bool{false, false, true}; !slices.Equal(got.asks, want) || !readingOf(source).DropSent {
		t.Errorf("%v asked %v; %+v", got.paths, got.asks, readingOf(source))
	}
}

// TestDropNamespaces checks that pages of metadata ask, too.
func TestDropNamespaces(t *testing.T) {
	for _, fields := range [][]string{{"metadata.managedFields"}, {"data"}} {
		var got asked
		pages := &pager{namespaces: []string{"a", "b", "a"}}
		source := dropping(t, fromListWatch(maps(restClient(t, func(w http.ResponseWriter, req *http.Request) {
			got.note(req)
			pages.serve(w, req)
		}, true))), fields...)
		counts, err := namespacesOf(t.Context(), source)
		if err != nil || counts["a"] != 2 || pages.asMetadata != 1 {
			t.Errorf("%v, %v; %d pages of metadata", counts, err, pages.asMetadata)
		}
		if want := []bool{fields[0] != "data"}; !slices.Equal(got.asks, want) {
			t.Errorf("dropping %v: asked %v", fields, got.asks)
		}
	}
}
