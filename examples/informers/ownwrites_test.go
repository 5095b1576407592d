package informers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/lister"
)

// lateServer is an API server of bakeries whose watches deliver nothing until late is closed. The example
// needs it because the objects of a fake clientset have no versions.
func lateServer(late <-chan struct{}) *httptest.Server {
	created := make(chan *shopv1.Bakery, 1)
	typed := metav1.TypeMeta{APIVersion: shopv1.SchemeGroupVersion.String(), Kind: "Bakery"}
	send := func(w http.ResponseWriter, answer any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
		w.(http.Flusher).Flush()
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			b := &shopv1.Bakery{}
			_ = json.NewDecoder(r.Body).Decode(b)
			b.TypeMeta, b.ResourceVersion, b.UID = typed, "1000", "one"
			created <- b
			send(w, b)
		case r.URL.Query().Get("watch") == "":
			send(w,
				&shopv1.BakeryList{
					TypeMeta: metav1.TypeMeta{APIVersion: typed.APIVersion, Kind: "BakeryList"},
					ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
		case r.URL.Query().Get("sendInitialEvents") != "":
			http.Error(w, "no watch-lists here", http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			select {
			case <-late:
				send(w, map[string]any{"type": "ADDED", "object": <-created})
			case <-r.Context().Done():
			}
			<-r.Context().Done()
		}
	}))
}

// A generated clientset records the writes that are made through it, and WaitForOwnWrites waits until the
// lister shows them. A controller that calls it first never acts on a state older than its own last write.
func Example_ownWrites() {
	late := make(chan struct{})
	server := lateServer(late)
	defer server.Close()
	client := versioned.NewForConfigOrDie(&rest.Config{Host: server.URL})
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries := shop.Shop().V1().Bakeries().Lister()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}

	_, err := client.ShopV1().Bakeries("town").Create(ctx, bakery("corner", "square", ""),
		metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
	}
	_, err = bakeries.Bakeries("town").Get("corner")
	fmt.Println("at once:", err)
	close(late)
	if err := lister.WaitForOwnWrites(ctx, bakeries); err != nil {
		fmt.Println(err)
	}
	read, err := bakeries.Bakeries("town").Get("corner")
	fmt.Println("fresh:", read.Name, err)
	// Output:
	// at once: bakery.shop.kubewright.dev "corner" not found
	// fresh: corner <nil>
}
