package informers_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// wrappedDynamic is a client that is not client-go's own.
type wrappedDynamic struct{ dynamic.Interface }

// TestStreamed checks that the informers of client-go's own clients stream through the transport, and
// that those of others read what their client returns.
func TestStreamed(t *testing.T) {
	ended := make(chan struct{})
	defer close(ended)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			w.WriteHeader(http.StatusUnprocessableEntity)
		case query.Get("watch") != "":
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-ended:
			}
		default:
			io.WriteString(w, `{"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Thing",`+
				`"metadata":{"namespace":"ns","name":"a"}}],"kind":"ThingList","metadata":{"resourceVersion":"1"}}`)
		}
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	config.Wrap(listwatch.Wrap)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client  dynamic.Interface
		streams bool
	}{{client, true}, {wrappedDynamic{client}, false}} {
		i := informers.NewDynamicSharedInformerFactory(c.client, time.Hour).ForResource(things).Informer()
		stop := make(chan struct{})
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			i.Run(stop)
		}()
		synced := cache.WaitForCacheSync(t.Context().Done(), i.HasSynced)
		status, _ := informer.StatusOf(i)
		close(stop)
		<-ran
		obj, exists, err := i.GetStore().GetByKey("ns/a")
		if !synced || !exists || err != nil || obj.(metav1.Object).GetName() != "a" {
			t.Errorf("%T: %v, %v", c.client, obj, err)
		}
		if streams := status.Reading.Streamed > 0; streams != c.streams {
			t.Errorf("%T: %+v", c.client, status.Reading)
		}
	}
}
