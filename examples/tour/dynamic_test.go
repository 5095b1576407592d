package tour

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// A dynamic client needs no Go types: an object is a map, decoded from its JSON. The map can be converted to
// a typed object, and back.
func TestDynamicClient(t *testing.T) {
	client, err := dynamic.NewForConfig(serverConfig(t)) // of server_test.go, like namespace
	if err != nil {
		t.Fatal(err)
	}
	bakeries := client.Resource(shopv1.SchemeGroupVersion.WithResource("bakeries")).Namespace(namespace(t))
	created, err := bakeries.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.kubewright.dev/v1",
		"kind":       "Bakery",
		"metadata":   map[string]any{"name": "ann"},
		"spec":       map[string]any{"bread": "rye", "market": "square", "bakers": int64(2)},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bakers, found, err := unstructured.NestedInt64(created.Object, "spec", "bakers")
	if err != nil || !found || bakers != 2 {
		t.Errorf("%d bakers, found %t, error %v", bakers, found, err)
	}

	var typed shopv1.Bakery
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, &typed); err != nil {
		t.Fatal(err)
	}
	typed.Spec.Bakers++
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		t.Fatal(err)
	}
	updated, err := bakeries.Update(t.Context(), &unstructured.Unstructured{Object: object},
		metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if bakers, _, _ := unstructured.NestedInt64(updated.Object, "spec", "bakers"); bakers != 3 {
		t.Errorf("%d bakers after the update, want 3", bakers)
	}
}
