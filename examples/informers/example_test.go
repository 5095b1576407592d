package informers_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

func bakery(name, market, resourceVersion string) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name, ResourceVersion: resourceVersion,
			Labels: map[string]string{"market": market}},
		Spec: shopv1.BakerySpec{Bread: "rye", Market: market},
	}
}

// newClient returns a fake clientset, and a channel that is closed when its first watch is open.
// A fake has no history, so a write between a list and the watch would be lost.
func newClient(objects ...runtime.Object) (*fake.Clientset, <-chan struct{}) {
	client, watching := fake.NewSimpleClientset(objects...), make(chan struct{})
	var once sync.Once
	client.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		w, err := client.Tracker().Watch(action.GetResource(), action.GetNamespace())
		once.Do(func() { close(watching) })
		return true, w, err
	})
	return client, watching
}

// The error of a wait for the caches gives the reason why one of them can't be filled.
func Example_whyNotSynced() {
	client := fake.NewSimpleClientset()
	client.PrependReactor("list", "markets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(shopv1.Resource("markets"),
			"", errors.New("no RBAC rule for it"))
	})
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	shop.Shop().V1().Bakeries().Informer()
	shop.Shop().V1().Markets().Informer()
	shop.StartWithContext(ctx)

	// WaitForSync would wait until ctx is done. This gives up at the first permanent
	// error.
	err := factory.WaitForSyncOr(ctx, shop, (*informer.SyncError).Permanent)
	var unsynced *informer.NotSyncedError
	if errors.As(err, &unsynced) {
		for _, e := range unsynced.Informers {
			if e.Err != nil {
				fmt.Println(e.Informer, "is", e.Reason)
			}
		}
	}
	// Output: informer of shop.kubewright.dev/v1 markets is forbidden
}

// A loop over events takes the place of a handler. It runs on the caller's goroutine and ends
// with its context.
func Example_events() {
	client, watching := newClient(bakery("old", "square", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries, _ := informer.Of[*shopv1.Bakery](shop.Shop().V1().Bakeries().Informer())
	shop.StartWithContext(ctx)

	for event := range bakeries.Events(ctx) {
		switch event.Type {
		case informer.Added:
			fmt.Println("added", event.Object.Name, event.Initial)
		case informer.Synced:
			fmt.Println("that was all there is")
			<-watching
			_, _ = client.ShopV1().Bakeries("town").Create(ctx, bakery("new", "square", "2"),
				metav1.CreateOptions{})
			_ = client.ShopV1().Bakeries("town").Delete(ctx, "new", metav1.DeleteOptions{})
		case informer.Deleted:
			fmt.Println("removed", event.Object.Name)
			cancel()
		}
	}
	// Output:
	// added old true
	// that was all there is
	// added new false
	// removed new
}

// A handler whose backlog is bounded by the number of objects, and whose panics are contained.
func Example_handlerOptions() {
	client, watching := newClient(bakery("corner", "square", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries := shop.Shop().V1().Bakeries().Informer()
	started, busy, seen := make(chan struct{}), make(chan struct{}), make(chan string)
	_, err := informer.AddEventHandler(bakeries, cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			close(started)
			<-busy
		},
		UpdateFunc: func(before, after any) {
			seen <- fmt.Sprint(before.(*shopv1.Bakery).ResourceVersion,
				" -> ", after.(*shopv1.Bakery).ResourceVersion)
		},
	}, informer.HandlerOptions{Name: "slow", Coalesce: true, ContainPanics: true})
	if err != nil {
		fmt.Println(err)
	}
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}
	<-started
	<-watching
	for version := range 50 {
		_, _ = client.ShopV1().Bakeries("town").Update(ctx,
			bakery("corner", "square", fmt.Sprint(1000+version)), metav1.UpdateOptions{})
	}
	if err := informer.WaitForVersion(ctx, bakeries, "1049"); err != nil {
		fmt.Println(err)
	}
	// All 50 updates are in the store. Soon they are merged into one update that waits for the handler.
	for waiting := 50; waiting > 1; goruntime.Gosched() {
		status, _ := informer.StatusOf(bakeries)
		waiting = status.Handlers[0].Backlog
	}
	close(busy)
	fmt.Println(<-seen)
	// Output: 1 -> 1049
}

// After a wait for the version that a write returned, a read shows the write.
func Example_readYourWrites() {
	client, watching := newClient(bakery("corner", "square", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries := shop.Shop().V1().Bakeries().Lister()
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}

	<-watching
	written, _ := client.ShopV1().Bakeries("town").Update(ctx, bakery("corner", "harbour", "1000"),
		metav1.UpdateOptions{})
	if err := lister.WaitForVersion(ctx, bakeries, written.ResourceVersion); err != nil {
		fmt.Println(err)
	}
	read, _ := bakeries.Bakeries("town").Get("corner")
	fmt.Println(read.Spec.Market)
	// Output: harbour
}

// Indexes are declared once; listers use label indexes automatically.
func Example_indexes() {
	client := fake.NewSimpleClientset(bakery("a", "square", "1"), bakery("b", "harbour", "1"),
		bakery("c", "square", "1"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	_ = factory.Configure(shop, informer.Options{OnCreate: func(i cache.SharedIndexInformer) error {
		return informer.IndexLabels(i, "market")
	}})
	bakeries := shop.Shop().V1().Bakeries()
	_ = informer.IndexField(bakeries.Informer(),
		"spec.bread", func(b *shopv1.Bakery) []string { return []string{b.Spec.Bread} })
	shop.StartWithContext(ctx)
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}

	// This looks at two bakeries, not at three.
	square, _ := bakeries.Lister().List(labels.SelectorFromSet(labels.Set{"market": "square"}))
	// The union of two results.
	either, _ := labels.Parse("market in (square, harbour)")
	both, _ := bakeries.Lister().List(either)
	rye, _ := lister.ListByFields[*shopv1.Bakery](bakeries.Lister(),
		fields.OneTermEqualSelector("spec.bread", "rye"), labels.Everything())
	fmt.Println(len(square), len(both), len(rye))
	// Output: 2 3 3
}

// A single informer stops when its last user has released it. On the next request, the factory makes a new
// one. A health check reports which informer is unhealthy, and why.
func Example_release() {
	client := fake.NewSimpleClientset()
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	healthy := factory.HealthCheck(shop, informer.HealthOptions{Synced: true, Backlog: 10_000})

	for range 2 {
		markets := shop.Shop().V1().Markets().Informer()
		_ = factory.Retain(shop, markets)
		r, _ := markets.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		shop.StartWithContext(ctx)
		<-r.HasSyncedChecker().Done()
		fmt.Println("healthy:", healthy(nil) == nil)
		_ = factory.Release(shop, markets)
		<-r.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
	}
	// Output:
	// healthy: true
	// healthy: true
}
