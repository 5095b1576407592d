package namespaces_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	listers "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
)

// One lister reads the bakeries of all namespaces of a set, which changes.
func Example() {
	client := fake.NewSimpleClientset(
		&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "corner"}},
		&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "village", Name: "square"}})
	set := namespaces.New(func(namespace string) externalversions.SharedInformerFactory {
		return externalversions.NewSharedInformerFactoryWithOptions(client, 0,
			externalversions.WithNamespace(namespace))
	})
	defer set.Shutdown()
	bakeries := listers.NewBakeryLister(
		set.Informer(func(f externalversions.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Shop().V1().Bakeries().Informer()
		}).GetIndexer())

	ctx := context.Background()
	set.StartWithContext(ctx)
	for _, namespace := range []string{"town", "village"} {
		if err := set.Add(namespace); err != nil {
			fmt.Println(err)
		}
		if err := factory.WaitForSync(ctx, set); err != nil {
			fmt.Println(err) // which informer hasn't synced, why, and since when
		}
		all, err := bakeries.List(labels.Everything())
		fmt.Println(set.Names(), len(all), err)
	}
	// Output:
	// [town] 1 <nil>
	// [town village] 2 <nil>
}
