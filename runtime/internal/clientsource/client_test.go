package clientsource_test

import (
	"io"
	"net/http"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/watchlist"

	kubeclient "github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type client = sources.Client[*corev1.ConfigMapList]

func server() *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList] {
	return runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
}

// TestFromClient checks that the client is requested for each call, not earlier, and that options are
// tweaked.
func TestFromClient(t *testing.T) {
	var s client
	asked := 0
	source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](), func() client { asked++; return s },
		clientsource.Options{
			TweakListOptions: func(o *metav1.ListOptions) { o.Continue = "" },
		})
	if asked != 0 {
		t.Error("the client was requested at construction")
	}
	if _, err := each(t.Context(), source, metav1.ListOptions{}, nil); err == nil {
		t.Error("no error without a client")
	}
	if _, err := source.Watch(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("no error without a client")
	}
	real := server()
	real.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	s = real
	if items, _ := collect[*corev1.ConfigMap](t, source,
		metav1.ListOptions{Continue: "nonsense"}); len(items) != 1 || items[0].Name != "a" {
		t.Errorf("%v", items)
	}
	stream, err := source.Watch(t.Context(), metav1.ListOptions{Continue: "nonsense"})
	if err != nil {
		t.Fatal(err)
	}
	stream.Stop()
	for _, r := range real.Requests() {
		if r.Options.Continue != "" {
			t.Errorf("%s wasn't tweaked", r)
		}
	}
	if asked != 4 {
		t.Errorf("requested the client %d times for four requests", asked)
	}
	real.Fail("LIST", apierrors.NewUnauthorized("who?"))
	if _, err := each(t.Context(), source, metav1.ListOptions{}, nil); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
	real.Fail("WATCH", apierrors.NewUnauthorized("who?"))
	if _, err := source.Watch(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Error(err)
	}
}

// streaming is a client whose List and Watch must not be called.
type streaming struct {
	client
	real *configMaps
}

func (s streaming) RESTResource() kubeclient.RESTResource { return s.real.RESTResource() }

func TestStreamingClient(t *testing.T) {
	c := streaming{real: configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			io.WriteString(w, listHead+configMap+"]}")
			return
		}
		io.WriteString(w, event("ADDED", watchedMap))
	})}
	source := clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](), func() client { return c },
		clientsource.Options{})
	if items, _ := collect[*corev1.ConfigMap](t, source, metav1.ListOptions{}); len(items) != 1 ||
		items[0].Name != "a" {
		t.Errorf("%v", items)
	}
	stream, err := source.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	if e, err := stream.Next(t.Context()); err != nil || nameOf(e.Object) != "a" {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestWatchListSemantics(t *testing.T) {
	no := server()
	no.NoWatchListClient()
	for name, test := range map[string]struct {
		source any
		want   bool
	}{
		"clientset without": {
			clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](), func() client { return nil },
				clientsource.Options{Client: no}), true},
		"clientset with": {
			clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](), func() client { return nil },
				clientsource.Options{Client: server()}), false},
		"no clientset": {
			clientsource.FromClient(reflect.TypeFor[*corev1.ConfigMap](), func() client { return nil },
				clientsource.Options{}), false},
		"lister-watcher without": {clientsource.FromListerWatcher(no.ListerWatcher(), nil), true},
		"lister-watcher with":    {clientsource.FromListerWatcher(server().ListerWatcher(), nil), false},
	} {
		if got := watchlist.DoesClientNotSupportWatchListSemantics(test.source); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
