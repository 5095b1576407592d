package cache_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// TestListWatchSemantics checks that clients that can stream lists are distinguished from those that can't.
func TestListWatchSemantics(t *testing.T) {
	no := newServer()
	no.NoWatchListClient()
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: no.ListerWatcher().(cache.ListerWatcherWithContext).ListWithContext,
	}, no)
	if list, err := cache.ToListerWatcherWithContext(lw).ListWithContext(t.Context(),
		metav1.ListOptions{}); err != nil || list == nil {
		t.Errorf("%v, %v", list, err)
	}
	if u, ok := lw.(interface{ IsWatchListSemanticsUnSupported() bool }); !ok ||
		!u.IsWatchListSemanticsUnSupported() {
		t.Error("a client without WatchList semantics isn't recognised")
	}
}

// listWatches has the constructors of lister-watchers over a REST client, of both sides.
var listWatches = map[string][2]func(clientgo.Getter) *clientgo.ListWatch{
	"selector": {
		func(c clientgo.Getter) *clientgo.ListWatch {
			return cache.NewListWatchFromClient(c, "pods", "ns", fields.OneTermEqualSelector("a", "b"))
		},
		func(c clientgo.Getter) *clientgo.ListWatch {
			return clientgo.NewListWatchFromClient(c, "pods", "ns", fields.OneTermEqualSelector("a", "b"))
		},
	},
	"modifier": {
		func(c clientgo.Getter) *clientgo.ListWatch {
			return cache.NewFilteredListWatchFromClient(c, "pods",
				"", func(o *metav1.ListOptions) { o.LabelSelector = "x" })
		},
		func(c clientgo.Getter) *clientgo.ListWatch {
			return clientgo.NewFilteredListWatchFromClient(c, "pods",
				"", func(o *metav1.ListOptions) { o.LabelSelector = "x" })
		},
	},
}

// TestListWatchFromClient checks that lister-watchers send the same requests as client-go's.
func TestListWatchFromClient(t *testing.T) {
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r.Method+" "+r.URL.String())
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	client, err := rest.RESTClientFor(&rest.Config{Host: server.URL, APIPath: "/api",
		ContentConfig: rest.ContentConfig{
			GroupVersion:         &corev1.SchemeGroupVersion,
			NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Client.CloseIdleConnections()
	options := metav1.ListOptions{ResourceVersion: "7", Limit: 5}
	for name, sides := range listWatches {
		var got [2][]string
		for side, make := range sides {
			lw := make(client)
			_, err1 := lw.List(options)
			_, err2 := lw.Watch(options)
			_, err3 := lw.ListWithContext(t.Context(), options)
			_, err4 := lw.WatchWithContext(t.Context(), options)
			for _, err := range []error{err1, err2, err3, err4} {
				if !apierrors.IsForbidden(err) {
					t.Errorf("%s: %v", name, err)
				}
			}
			got[side], requests = requests, nil
		}
		if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) || len(got[0]) != 4 {
			t.Errorf("%s: %s, theirs %s", name, got[0], got[1])
		}
	}
}
