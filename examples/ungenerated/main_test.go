package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// server is an API server of two bakeries. The first has its label.
type server struct {
	bakeries shopv1.BakeryList
	patched  chan string
}

func newServer() *server {
	version := shopv1.SchemeGroupVersion.String()
	s := &server{patched: make(chan string, 2), bakeries: shopv1.BakeryList{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "BakeryList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "7"},
	}}
	for _, name := range []string{"old", "new"} {
		b := shopv1.Bakery{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "Bakery"}}
		b.Namespace, b.Name, b.ResourceVersion, b.Spec.Market = "town", name, "5", "square"
		if name == "old" {
			b.Labels = map[string]string{marketLabel: "square"}
		}
		s.bakeries.Items = append(s.bakeries.Items, b)
	}
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch query := r.URL.Query(); {
	case r.Method == http.MethodPatch:
		var patch shopv1.Bakery
		_ = json.NewDecoder(r.Body).Decode(&patch)
		_ = json.NewEncoder(w).Encode(&s.bakeries.Items[1])
		s.patched <- r.URL.Path + " " + patch.Labels[marketLabel]
	case query.Get("watch") == "":
		_ = json.NewEncoder(w).Encode(&s.bakeries)
	case query.Get("sendInitialEvents") != "":
		http.Error(w, "no watch-lists here", http.StatusBadRequest)
	default:
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// TestRun checks that the first bakery is left alone, that the second gets its label, and that the
// program ends with its context.
func TestRun(t *testing.T) {
	s := newServer()
	api := httptest.NewServer(s)
	defer api.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, &rest.Config{Host: api.URL}) }()
	const want = "/apis/shop.kubewright.dev/v1/namespaces/town/bakeries/new square"
	if got := <-s.patched; got != want {
		t.Errorf("patched %s, want %s", got, want)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
