package tour

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
)

// A generated fake is a clientset that answers from memory, for unit tests. It is not an API server: objects
// have no resourceVersion, and there are no validation, defaults or conflicts. Code that depends on those
// needs runtimetest or a server, see docs/testing.md.
func TestFake(t *testing.T) {
	clients := fake.NewSimpleClientset(bakery(t, "ann")) // of server_test.go
	bakeries := clients.ShopV1().Bakeries(namespace(t))

	// Reactors answer before the memory does, here with an error that a real server rarely returns.
	clients.PrependReactor("delete", "bakeries",
		func(action clienttesting.Action) (handled bool, answer runtime.Object, err error) {
			name := action.(clienttesting.DeleteAction).GetName()
			return name == "ann", nil, apierrors.NewTooManyRequests("later, please", 1)
		})
	ann, err := bakeries.Get(t.Context(), "ann", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ann.Spec.Bakers = 3
	if _, err := bakeries.Update(t.Context(), ann, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := bakeries.Delete(t.Context(), "ann", metav1.DeleteOptions{}); !apierrors.IsTooManyRequests(err) {
		t.Errorf("error %v, want the reactor's", err)
	}

	// The fake records requests. Prefer to compare the final state, which depends less on the implementation.
	var verbs []string
	for _, action := range clients.Actions() {
		verbs = append(verbs, action.GetVerb())
	}
	if fmt.Sprint(verbs) != "[get update delete]" {
		t.Errorf("requests %v", verbs)
	}
	if ann, err = bakeries.Get(t.Context(), "ann", metav1.GetOptions{}); err != nil || ann.Spec.Bakers != 3 {
		t.Errorf("error %v, %+v, want 3 bakers", err, ann)
	}
}
