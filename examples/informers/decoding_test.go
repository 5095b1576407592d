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
	"github.com/kubewright/kubewright/runtime/informer"
)

// steadyServer is an API server of one bakery that never changes. Informers decode only what
// a server sends: a fake clientset returns objects that are decoded already.
func steadyServer(b *shopv1.Bakery) *httptest.Server {
	version := shopv1.SchemeGroupVersion.String()
	b.TypeMeta = metav1.TypeMeta{APIVersion: version, Kind: "Bakery"}
	list := &shopv1.BakeryList{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "BakeryList"},
		ListMeta: metav1.ListMeta{ResourceVersion: "7"},
		Items:    []shopv1.Bakery{*b},
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch query := r.URL.Query(); {
		case query.Get("watch") == "":
			_ = json.NewEncoder(w).Encode(list)
		case query.Get("sendInitialEvents") != "":
			http.Error(w, "no watch-lists here", http.StatusBadRequest)
		default:
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
}

// The informers of a factory can skip fields that the program doesn't read, while they decode objects.
// The cache then doesn't have these fields. Fields have their JSON names. A name that a type doesn't
// have is ignored, so one list of names works for all types of a factory.
func Example_drop() {
	b := bakery("corner", "square", "7")
	b.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	b.Spec.Bakers = 3
	server := steadyServer(b)
	defer server.Close()
	client := versioned.NewForConfigOrDie(&rest.Config{Host: server.URL})

	show := func(what string, options informer.Options) {
		shop := externalversions.NewSharedInformerFactory(client, 0)
		ctx, cancel := context.WithCancel(context.Background())
		defer shop.Shutdown()
		defer cancel()
		if err := factory.Configure(shop, options); err != nil {
			fmt.Println(err)
		}
		bakeries := shop.Shop().V1().Bakeries().Lister()
		shop.StartWithContext(ctx)
		if err := factory.WaitForSync(ctx, shop); err != nil {
			fmt.Println(err)
		}
		corner, err := bakeries.Bakeries("town").Get("corner")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d managed fields, bread %q, %d bakers\n", what, len(corner.ManagedFields),
			corner.Spec.Bread, corner.Spec.Bakers)
	}
	drop := []string{"metadata.managedFields", "spec.bread"}
	show("everything", informer.Options{})
	show("Drop", informer.Options{Drop: drop})
	show("MetadataOnly", informer.Options{MetadataOnly: true})
	show("both", informer.Options{Drop: drop, MetadataOnly: true})
	// Output:
	// everything: 1 managed fields, bread "rye", 3 bakers
	// Drop: 0 managed fields, bread "", 3 bakers
	// MetadataOnly: 1 managed fields, bread "", 0 bakers
	// both: 0 managed fields, bread "", 0 bakers
}
