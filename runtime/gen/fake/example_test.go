package fake_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/fake"
)

// Generated fake clientsets have such a fake client for each kind, and such a tracker that answers it. A test
// checks the actions.
func Example() {
	var recorded testing.Fake
	fake.NewTracker(&recorded, clientgoscheme.Scheme, clientgoscheme.Codecs.UniversalDecoder(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "bread"}})
	maps := fake.New[*corev1.ConfigMap](&recorded, "town",
		corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithKind("ConfigMap"))

	ctx := context.Background()
	bread, err := maps.Get(ctx, "bread", metav1.GetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	bread.Data = map[string]string{"flour": "rye"}
	_, err = maps.Update(ctx, bread, metav1.UpdateOptions{})
	fmt.Println(err)
	for _, action := range recorded.Actions() {
		fmt.Println(action.GetVerb(), action.GetResource().Resource, "in", action.GetNamespace())
	}
	// Output:
	// <nil>
	// get configmaps in town
	// update configmaps in town
}
