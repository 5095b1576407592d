package tour

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// A patch contains only the changes, so there is no need to read the object first. A merge patch is a part of
// the object, in which null removes a field and a list replaces the whole list. A JSON patch is a list of
// operations; with "test" it is applied only if a value is the expected one. (Strategic merge patches, which
// merge lists by key, are for built-in types only.)
func TestPatches(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	if err != nil {
		t.Fatal(err)
	}
	bakeries := clients.ShopV1().Bakeries(namespace(t))
	if _, err := bakeries.Create(t.Context(), bakery(t, "ann"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	merged, err := bakeries.Patch(t.Context(), "ann", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"town":"hill"}},"spec":{"bread":"oat"}}`), metav1.PatchOptions{})
	if err != nil || merged.Labels["town"] != "hill" || merged.Spec.Bread != "oat" || merged.Spec.Bakers != 1 {
		t.Errorf("merge patch: error %v, %+v", err, merged)
	}
	patched, err := bakeries.Patch(t.Context(), "ann", types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/spec/bakers","value":1},{"op":"replace","path":"/spec/bakers","value":2}]`),
		metav1.PatchOptions{})
	if err != nil || patched.Spec.Bakers != 2 {
		t.Errorf("JSON patch: error %v, %+v", err, patched)
	}
	_, err = bakeries.Patch(t.Context(), "ann", types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/spec/bakers","value":1}]`), metav1.PatchOptions{})
	if err == nil {
		t.Error("a test that doesn't hold: no error")
	}
	// The status is patched through its subresource.
	patched, err = bakeries.Patch(t.Context(), "ann", types.MergePatchType,
		[]byte(`{"status":{"bakers":2}}`), metav1.PatchOptions{}, "status")
	if err != nil || patched.Status.Bakers != 2 {
		t.Errorf("patch of the status: error %v, %+v", err, patched)
	}
}
