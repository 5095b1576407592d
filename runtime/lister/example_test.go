package lister_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// A lister finds objects by a field that was declared as an index of the informer.
func Example() {
	bakery := func(name, bread string) *shopv1.Bakery {
		return &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name},
			Spec: shopv1.BakerySpec{Bread: bread}}
	}
	shop := externalversions.NewSharedInformerFactory(
		fake.NewSimpleClientset(bakery("first", "rye"), bakery("second", "wheat")), 0)
	bakeries := shop.Shop().V1().Bakeries()
	err := informer.IndexField(bakeries.Informer(), "spec.bread", func(b *shopv1.Bakery) []string {
		return []string{b.Spec.Bread}
	})
	fmt.Println(err)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	shop.StartWithContext(ctx)
	fmt.Println(factory.WaitForSync(ctx, shop))

	found, err := lister.ListByFields(
		bakeries.Lister(), fields.OneTermEqualSelector("spec.bread", "rye"), labels.Everything())
	for _, b := range found { // shared with the cache: copy one before you change it
		fmt.Println(b.Name)
	}
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// first
	// <nil>
}
