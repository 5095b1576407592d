package tour

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// Server-side apply sends the fields that a manager wants, and nothing else. The server remembers who
// applied what (managedFields): a field that two managers want with different values is a conflict, and a
// field that its only manager leaves out the next time is removed. No read comes before the write, so no
// version is in the way.
func TestServerSideApply(t *testing.T) {
	client, err := dynamic.NewForConfig(serverConfig(t))
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
	if _, err := apply("owner", false, map[string]any{"bread": "rye", "market": "square", "bakers": int64(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := apply("autoscaler", false, map[string]any{"bakers": int64(5)}); !apierrors.IsConflict(err) {
		t.Errorf("a field of another manager: %v, want a conflict", err)
	}
	// By force the field changes hands: the autoscaler owns it alone now.
	if _, err := apply("autoscaler", true, map[string]any{"bakers": int64(5)}); err != nil {
		t.Fatal(err)
	}
	// The owner gives the number of bakers up by not naming it, and changes what is its own.
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
