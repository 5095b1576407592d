package informers_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/informer"
)

// A handler with contained panics receives all objects, even though it panics at one of them. The panics are
// counted, and reported as errors with the handler's name. The handler syncs nevertheless.
func Example_containedPanic() {
	client := fake.NewSimpleClientset(bakery("corner", "square", "1"), bakery("lost", "", "1"),
		bakery("old", "harbour", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries, open := shop.Shop().V1().Bakeries().Informer(), 0
	opener, _ := informer.AddEventHandler(bakeries, cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if b := obj.(*shopv1.Bakery); b.Spec.Market == "" {
				panic(b.Name + " sells nowhere")
			}
			open++
		},
	}, informer.HandlerOptions{Name: "opener", ContainPanics: true})
	shop.StartWithContext(ctx)
	<-opener.HasSyncedChecker().Done()

	status, _ := informer.StatusOf(bakeries)
	for _, h := range status.Handlers {
		fmt.Println(h.Name, "synced:", h.Synced, "panics:", h.Panics)
	}
	fmt.Println(open, "bakeries are open")
	// Output:
	// opener synced: true panics: 1
	// 2 bakeries are open
}

// The cache and all handlers share objects. A handler must modify a deep copy. To find one that
// doesn't, the informer compares sampled objects with copies of its own, every ten seconds and
// when it stops.
func Example_mutation() {
	client := fake.NewSimpleClientset(bakery("corner", "square", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	bakeries := shop.Shop().V1().Bakeries().Informer()
	_ = informer.Configure(bakeries, informer.Options{
		MutationSample: 1, // every object, for a test; in production one in a thousand
		OnMutation: func(original, modified runtime.Object) {
			before, now := original.(*shopv1.Bakery), modified.(*shopv1.Bakery)
			fmt.Println("somebody modified", cache.MetaObjectToName(now), "from", before.Spec.Bread,
				"to", now.Spec.Bread)
		},
	})
	careless, _ := bakeries.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { obj.(*shopv1.Bakery).Spec.Bread = "wheat" },
	})
	shop.StartWithContext(ctx)
	<-careless.HasSyncedChecker().Done()
	cancel()
	shop.Shutdown()
	// Output: somebody modified town/corner from rye to wheat
}
