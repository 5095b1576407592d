package listwatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// With the transport of Wrap in the client's configuration, informers read the lists and watches of a dynamic
// client object by object, and can leave out fields. Clients that kubewright generates install it themselves.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(oneConfigMap))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	config.Wrap(listwatch.Wrap)
	client := dynamic.NewForConfigOrDie(config)

	informers := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	_ = factory.Configure(informers, informer.Options{
		Drop:    []string{"metadata.managedFields"},
		Limiter: listwatch.NewLimiter(4), // at most four lists at a time
	})
	maps := informers.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	maps.Informer()
	ctx, cancel := context.WithCancel(context.Background())
	defer informers.Shutdown()
	defer cancel()
	informers.Start(ctx.Done())
	if err := factory.WaitForSync(ctx, informers); err != nil {
		fmt.Println(err)
	}
	bread, err := maps.Lister().ByNamespace("town").Get("bread")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("managed fields:", len(bread.(*unstructured.Unstructured).GetManagedFields()))
	// Output: managed fields: 0
}

// oneConfigMap serves lists. A watch stays open and has no events.
func oneConfigMap(w http.ResponseWriter, r *http.Request) {
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		http.Error(w, "no streamed lists here", http.StatusUnprocessableEntity)
	case query.Get("watch") != "":
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&corev1.ConfigMapList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "bread",
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}}},
		})
	}
}
