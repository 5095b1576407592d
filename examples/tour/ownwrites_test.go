package tour

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	shoplisters "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/lister"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// A lister lags behind the server: it may not show your latest writes yet. Every write returns the object's
// new resourceVersion, and WaitForVersion waits until the cache reflects that version or a later one.
func TestOwnWriteByVersion(t *testing.T) {
	// In this bubble, synctest.Wait returns once all other goroutines wait for something.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[shopv1.Bakery, shopv1.BakeryList]() // an API server in memory
		// No resync, no indexes.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &shopv1.Bakery{}, 0, cache.Indexers{})
		bakeries := shoplisters.NewBakeryLister(informer.GetIndexer())
		go informer.RunWithContext(t.Context())
		synctest.Wait()

		// Here the lag is long: the watch breaks, and no other request gets through before late is closed.
		late := make(chan struct{})
		server.OnRequest(func(context.Context, runtimetest.Request) error {
			<-late
			return nil
		})
		server.CloseWatches()
		version := server.Create(&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "ann"}})
		if _, err := bakeries.Bakeries("town").Get("ann"); !apierrors.IsNotFound(err) {
			t.Errorf("at once: error %v, want not found", err)
		}
		close(late)
		if err := lister.WaitForVersion(t.Context(), bakeries, version); err != nil {
			t.Error(err)
		}
		if _, err := bakeries.Bakeries("town").Get("ann"); err != nil {
			t.Error(err)
		}
	})
}

// A generated clientset records the writes that are made through it. WaitForOwnWrites waits for all of them,
// so you need not pass versions around: call it before you read.
func TestOwnWrites(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // a real server, see server_test.go
	if err != nil {
		t.Fatal(err)
	}
	informers := externalversions.NewSharedInformerFactory(clients, 0) // see factory_test.go
	bakeries := informers.Shop().V1().Bakeries().Lister().Bakeries(namespace(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer informers.Shutdown()
	defer cancel()
	informers.StartWithContext(ctx)
	for n := range 10 {
		name := fmt.Sprint("b", n)
		_, err := clients.ShopV1().Bakeries(namespace(t)).Create(ctx, bakery(t, name), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := lister.WaitForOwnWrites(ctx, bakeries); err != nil {
			t.Fatal(err)
		}
		if _, err := bakeries.Get(name); err != nil {
			t.Errorf("after WaitForOwnWrites: %v", err)
		}
	}
}
