package listoptions_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestListOptions checks that the informer of bakeries lists only those with a label, and that of markets
// lists all.
func TestListOptions(t *testing.T) {
	client := fake.NewSimpleClientset()
	informers := externalversions.NewSharedInformerFactory(client, 0)
	err := factory.Configure(informers, informer.Options{Overrides: map[schema.GroupResource]informer.Options{
		shopv1.Resource("bakeries"): {TweakListOptions: func(options *metav1.ListOptions) {
			options.LabelSelector = "open=yes"
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	informers.Shop().V1().Bakeries().Informer()
	informers.Shop().V1().Markets().Informer()
	informers.StartWithContext(t.Context())
	if err := informers.WaitForCacheSyncWithContext(t.Context()).AsError(); err != nil {
		t.Fatal(err)
	}
	var asked []string
	for _, action := range client.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok {
			asked = append(asked,
				fmt.Sprintf("%s with %q", list.GetResource().Resource, list.GetListRestrictions().Labels))
		}
	}
	slices.Sort(asked)
	if want := []string{`bakeries with "open=yes"`, `markets with ""`}; !slices.Equal(asked, want) {
		t.Errorf("the informers asked for %v, want %v", asked, want)
	}
}
