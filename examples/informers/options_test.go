package informers_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	listersshopv1 "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Options for all informers of a factory: deadlines for servers that fall silent, sampling that finds
// handlers which modify shared objects, and a transform that drops fields. Other examples show the effect
// of each.
func Example_tune() {
	client := fake.NewSimpleClientset(&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{
		Namespace: "town", Name: "corner", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}})
	shop := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithTransform(cache.TransformFunc(func(obj any) (any, error) {
			if object, ok := obj.(metav1.Object); ok {
				object.SetManagedFields(nil)
			}
			return obj, nil
		})))
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	_ = factory.Configure(shop, informer.Options{
		InitialEventsTimeout: time.Minute,
		SilenceTimeout:       5 * time.Minute,
		RecreationIsDeletion: true,
		MutationSample:       1000,
		OnMutation: func(original, modified runtime.Object) {
			fmt.Println("modified:", original, modified)
		},
	})
	bakeries := shop.Shop().V1().Bakeries()
	lister := bakeries.Lister()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}
	corner, _ := lister.Bakeries("town").Get("corner")
	fmt.Println(len(corner.ManagedFields), "managed fields")
	err := informer.Configure(bakeries.Informer(), informer.Options{})
	fmt.Println("too late:", errors.Is(err, informer.ErrTooLate))
	// Output:
	// 0 managed fields
	// too late: true
}

// A limiter bounds the memory at the start of a program with many informers. Here two of them
// list at a time, and at most 64 MB are decoded and not yet in a store. All informers share
// the limiter.
func Example_memory() {
	client := fake.NewSimpleClientset(&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town",
		Name: "corner"}})
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	limiter := listwatch.NewLimiter(2).WithBudget(64 << 20)
	if err := factory.Configure(shop, informer.Options{Limiter: limiter}); err != nil {
		fmt.Println(err)
	}
	lister := shop.Shop().V1().Bakeries().Lister()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}
	bakeries, _ := lister.List(labels.Everything())
	fmt.Println(len(bakeries), "bakery,", limiter.Held(), "bytes decoded and not in a store")
	// Output: 1 bakery, 0 bytes decoded and not in a store
}

// versions is a metrics provider that keeps a single metric. contrib/prometheus has a complete one.
type versions struct {
	runtimetest.NoMetrics
	shown atomic.Int64
}

func (v *versions) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	fmt.Println("a metric of", id.Name(), id.GroupVersionResource().Resource)
	return v
}
func (v *versions) Set(version float64) { v.shown.Store(int64(version)) }

// Informers have metrics if they have a name and the process has a provider.
func Example_metrics() {
	name, err := cache.NewInformerName("shop-controller")
	if err != nil {
		fmt.Println(err)
	}
	provider := &versions{}
	informer.SetMetricsProvider(provider)

	client := fake.NewSimpleClientset(bakery("corner", "square", "7"))
	shop := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithInformerName(name))
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown() // this releases the name, too
	defer cancel()
	shop.Shop().V1().Bakeries().Informer()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}
	// Output: a metric of shop-controller bakeries
}

// Informers of a changing set of namespaces, for programs that have permissions for these
// namespaces only.
func Example_namespaces() {
	client := fake.NewSimpleClientset()
	for _, namespace := range []string{"town", "village", "city"} {
		b := bakery("corner", "square", "1")
		b.Namespace = namespace
		_, _ = client.ShopV1().Bakeries(namespace).Create(context.Background(), b, metav1.CreateOptions{})
	}
	shops := namespaces.New(func(namespace string) externalversions.SharedInformerFactory {
		return externalversions.NewSharedInformerFactoryWithOptions(client, 0,
			externalversions.WithNamespace(namespace))
	})
	defer shops.Shutdown()
	bakeries := shops.Informer(func(f externalversions.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Shop().V1().Bakeries().Informer()
	})
	lister := listersshopv1.NewBakeryLister(bakeries.GetIndexer())
	_, _ = bakeries.AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(obj any) {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				fmt.Println("gone:", gone.Key)
			}
		},
	})
	ctx := context.Background()
	shops.StartWithContext(ctx)
	_, _ = shops.Add("town"), shops.Add("village")
	if err := factory.WaitForSync(ctx, shops); err != nil {
		fmt.Println(err)
	}
	all, _ := lister.List(labels.Everything())
	fmt.Println(shops.Names(), len(all))

	shops.Remove("town")
	all, _ = lister.List(labels.Everything())
	fmt.Println(shops.Names(), len(all))
	// Output:
	// [town village] 2
	// gone: town/corner
	// [village] 1
}
