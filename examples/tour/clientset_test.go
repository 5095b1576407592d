package tour

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// A clientset has a typed client for each kind, by group and version. An update carries the resourceVersion
// of the object that was read: if another client has updated it since, the update fails with a conflict.
// Read the object again and retry.
func TestClientset(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	if err != nil {
		t.Fatal(err)
	}
	bakeries := clients.ShopV1().Bakeries(namespace(t))
	stale, err := bakeries.Create(t.Context(), bakery(t, "ann"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hire := func(b *shopv1.Bakery) error {
		b.Spec.Bakers++
		_, err := bakeries.Update(t.Context(), b, metav1.UpdateOptions{})
		return err
	}
	if err := hire(stale.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if err := hire(stale); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: %v, want a conflict", err)
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh, err := bakeries.Get(t.Context(), "ann", metav1.GetOptions{})
		if err != nil {
			return err
		}
		return hire(fresh)
	})
	if err != nil {
		t.Fatal(err)
	}
	after, err := bakeries.Get(t.Context(), "ann", metav1.GetOptions{})
	if err != nil || after.Spec.Bakers != 3 {
		t.Errorf("error %v, %+v, want 3 bakers", err, after)
	}

	// The status is a subresource: Update ignores it, UpdateStatus ignores everything else.
	after.Status.Bakers, after.Spec.Bread = 3, "oat"
	after, err = bakeries.UpdateStatus(t.Context(), after, metav1.UpdateOptions{})
	if err != nil || after.Status.Bakers != 3 || after.Spec.Bread != "rye" {
		t.Errorf("error %v, %+v, want the status alone to change", err, after)
	}
}
