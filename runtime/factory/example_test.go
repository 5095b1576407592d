package factory_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// A generated factory is set up, started and waited for by functions of this package.
func Example() {
	client := fake.NewSimpleClientset(
		&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "corner"}})
	shop := externalversions.NewSharedInformerFactory(client, 0)
	// First, set the options of all informers of the factory.
	_ = factory.Configure(shop, informer.Options{Drop: []string{"metadata.managedFields"}})
	_ = factory.Configure(shop, informer.Options{OnCreate: func(i cache.SharedIndexInformer) error {
		return informer.IndexLabels(i, "market")
	}})
	bakeries := shop.Shop().V1().Bakeries().Lister() // makes the informer

	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err) // which informer hasn't synced, why, and since when
	}
	corner, err := bakeries.Bakeries("town").Get("corner")
	fmt.Println(corner.Name, err)

	statuses, _ := factory.Statuses(shop)
	for _, s := range statuses {
		fmt.Println(s.Name, "has", s.Objects, "object")
	}
	// Output:
	// corner <nil>
	// informer of shop.kubewright.dev/v1 bakeries has 1 object
}
