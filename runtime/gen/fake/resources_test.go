package fake_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kubewright/kubewright/runtime/gen/fake"
)

// TestResources adds an object of a kind whose resource can't be guessed to trackers that know it, and to
// those of client-go, where no request finds it.
func TestResources(t *testing.T) {
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder()
	converter := managedfields.NewDeducedTypeConverter()
	resources := fake.Resources{{Kind: gvk, Name: "rollouts"}}
	for name, c := range map[string]struct {
		tracker clienttesting.ObjectTracker
		found   bool
	}{
		"plain": {resources.NewTracker(&clienttesting.Fake{}, scheme, decoder), true},
		"managed": {resources.NewManagedTracker(&clienttesting.Fake{}, scheme, decoder, converter),
			true},
		"client-go's":         {clienttesting.NewObjectTracker(scheme, decoder), false},
		"client-go's managed": {clienttesting.NewFieldManagedObjectTracker(scheme, decoder, converter), false},
	} {
		t.Run(name, func(t *testing.T) {
			rollouts := gvr.GroupVersion().WithResource("rollouts")
			if err := c.tracker.Add(&appsv1.DeploymentList{Items: []appsv1.Deployment{*named("d", nil)}}); err != nil {
				t.Fatal(err)
			}
			list, err := c.tracker.List(rollouts, gvk, "ns")
			if err != nil || (meta.LenList(list) == 1) != c.found {
				t.Errorf("list %v, error %v; found should be %t", list, err, c.found)
			}
			if _, err := c.tracker.Get(rollouts, "ns", "d"); (err == nil) != c.found {
				t.Errorf("error %v of a get; found should be %t", err, c.found)
			}
			err = c.tracker.Delete(rollouts, "ns", "other")
			if want := `rollouts.apps "other" not found`; !apierrors.IsNotFound(err) || err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
			if err := c.tracker.Update(rollouts, named("d", nil), "ns"); (err == nil) != c.found {
				t.Errorf("error %v of an update; found should be %t", err, c.found)
			}
		})
	}
}
