package tour

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// Server-side apply sends only the fields that a manager sets. The server records the manager of each field
// (managedFields): it is a conflict if two managers set a field to different values, and a field that its
// only manager leaves out the next time is removed. The manager reads nothing first, so there is no
// resourceVersion to conflict with.
func TestServerSideApply(t *testing.T) {
	client, err := dynamic.NewForConfig(serverConfig(t)) // of server_test.go, like namespace
	if err != nil {
		t.Fatal(err)
	}
	bakeries := client.Resource(shopv1.SchemeGroupVersion.WithResource("bakeries")).Namespace(namespace(t))
	apply := func(manager string, force bool, spec map[string]any) (*unstructured.Unstructured, error) {
		return bakeries.Apply(t.Context(), "ann", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "shop.kubewright.dev/v1",
			"kind":       "Bakery",
			"metadata":   map[string]any{"name": "ann"},
			"spec":       spec,
		}}, metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	_, err = apply("owner", false, map[string]any{"bread": "rye", "market": "square", "bakers": int64(1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := apply("autoscaler", false, map[string]any{"bakers": int64(5)}); !apierrors.IsConflict(err) {
		t.Errorf("a field of another manager: %v, want a conflict", err)
	}
	// With force the autoscaler becomes the only manager of the field.
	if _, err := apply("autoscaler", true, map[string]any{"bakers": int64(5)}); err != nil {
		t.Fatal(err)
	}
	// The owner now leaves out the number of bakers, which the autoscaler manages, and changes its own field.
	after, err := apply("owner", false, map[string]any{"bread": "oat", "market": "square"})
	if err != nil {
		t.Fatal(err)
	}
	bakers, _, _ := unstructured.NestedInt64(after.Object, "spec", "bakers")
	bread, _, _ := unstructured.NestedString(after.Object, "spec", "bread")
	if bakers != 5 || bread != "oat" {
		t.Errorf("%d bakers bake %s, want 5 and oat", bakers, bread)
	}
}
