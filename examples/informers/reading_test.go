package informers_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// A snapshot is the content of the cache at one moment. A loop over a snapshot, or over the cache itself,
// copies nothing and doesn't block writes to the cache.
func Example_snapshot() {
	client, watching := newClient(bakery("a", "square", "1"), bakery("b", "harbour", "2"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries, _ := informer.Of[*shopv1.Bakery](shop.Shop().V1().Bakeries().Informer())
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}

	version, before := bakeries.Snapshot()
	<-watching
	_, _ = client.ShopV1().Bakeries("town").Create(ctx, bakery("c", "square", "1000"), metav1.CreateOptions{})
	if err := informer.WaitForVersion(ctx, shop.Shop().V1().Bakeries().Informer(), "1000"); err != nil {
		fmt.Println(err)
	}
	markets := map[string]int{}
	for _, b := range bakeries.All() {
		markets[b.Spec.Market]++
	}
	names := 0
	for range before {
		names++
	}
	fmt.Println("at version", version+":", names, "now:", markets)
	// Output: at version 3: 2 now: map[harbour:1 square:2]
}

// A transform may drop any field that the program doesn't read, even the resourceVersion: the
// cache keeps the server's version beside each object.
func Example_versions() {
	client, watching := newClient(bakery("corner", "square", "1"))
	shop := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithTransform(func(obj any) (any, error) {
			if object, ok := obj.(metav1.Object); ok {
				object.SetResourceVersion("")
			}
			return obj, nil
		}))
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries := shop.Shop().V1().Bakeries().Informer()
	updated := make(chan string)
	_, _ = bakeries.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) {
		updated <- fmt.Sprintf("%s, version %q", obj.(*shopv1.Bakery).Spec.Market,
			obj.(*shopv1.Bakery).ResourceVersion)
	}})
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}

	<-watching
	_, _ = client.ShopV1().Bakeries("town").Update(ctx, bakery("corner", "harbour", "1000"),
		metav1.UpdateOptions{})
	fmt.Println("updated:", <-updated)
	fmt.Println(informer.WaitForVersion(ctx, bakeries, "1000"),
		bakeries.GetStore().LastStoreSyncResourceVersion())
	// Output:
	// updated: harbour, version ""
	// <nil> 1000
}
