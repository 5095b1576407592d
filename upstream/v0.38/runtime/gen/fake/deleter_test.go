package fake_test

import (
	"errors"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	clienttesting "k8s.io/client-go/testing"
)

// TestDeleteWithResult compares the actions and results with those of upstream's fakes.
func TestDeleteWithResult(t *testing.T) {
	for name, test := range map[string]struct {
		handled bool
		object  runtime.Object
		err     error
	}{
		"no reactor": {},
		"nothing":    {handled: true},
		"a status":   {handled: true, object: &metav1.Status{Code: 202}},
		"the object": {handled: true, object: &appsv1.Deployment{}},
		"not found":  {handled: true, err: apierrors.NewNotFound(gvr.GroupResource(), "d")},
		"an error":   {handled: true, err: errors.New("no")},
	} {
		fake := &clienttesting.Fake{}
		fake.AddReactor("delete", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			return test.handled, test.object, test.err
		})
		opts := metav1.DeleteOptions{DryRun: []string{"All"}}
		theirs := gentype.NewFakeClient(fake, "ns", gvr, gvk, func() *appsv1.Deployment {
			return &appsv1.Deployment{}
		})
		got, err := newFakeDeployments(fake).DeleteWithResult(t.Context(), "d", opts)
		want, wantErr := theirs.DeleteWithResult(t.Context(), "d", opts)
		if !reflect.DeepEqual(got, want) || err != wantErr {
			t.Errorf("%s: %+v, %v, want %+v, %v", name, got, err, want, wantErr)
		}
		if a := fake.Actions(); !reflect.DeepEqual(a[0], a[1]) {
			t.Errorf("%s: %v, want %v", name, a[0], a[1])
		}
	}
}
