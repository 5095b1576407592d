package factory_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	resources "github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
)

var coreScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}()

// steady is an API server of config maps that never change.
type steady struct {
	list     corev1.ConfigMapList
	mu       sync.Mutex
	requests []string
}

// serve starts a server of the namespaces one and two, and returns its client.
func serve(t *testing.T) (*steady, *resources.Resource[*corev1.ConfigMap, *corev1.ConfigMapList]) {
	t.Helper()
	s := &steady{list: corev1.ConfigMapList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "7"},
	}}
	for _, namespace := range []string{"one", "two"} {
		s.list.Items = append(s.list.Items, corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: "a", ResourceVersion: "5",
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
			},
			Data: map[string]string{"k": "v"},
		})
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	c, err := resources.For[*corev1.ConfigMap, *corev1.ConfigMapList](config, coreScheme)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func (s *steady) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.Path+" "+r.URL.Query().Get("labelSelector"))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch query := r.URL.Query(); {
	case query.Get("watch") == "":
		_ = json.NewEncoder(w).Encode(&s.list)
	case query.Get("sendInitialEvents") != "":
		http.Error(w, "no watch-lists here", http.StatusBadRequest)
	default:
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// seen returns the requests that the server got.
func (s *steady) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// run runs a factory until the end of the test, and waits until it has synced.
func run(t *testing.T, f interface {
	factory.Interface
	StartWithContext(context.Context)
}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	f.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, f); err != nil {
		t.Fatal(err)
	}
}
