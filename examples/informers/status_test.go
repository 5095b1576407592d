package informers_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// StatusOf shows what an informer is doing, how fresh its cache is, and the state of its handlers.
func Example_status() {
	server := newServer(bakery("corner", "square", ""))
	bakeries := over(server)
	audit, _ := informer.AddEventHandler(bakeries, cache.ResourceEventHandlerFuncs{},
		informer.HandlerOptions{Name: "audit"})
	defer start(bakeries)()
	<-audit.HasSyncedChecker().Done()

	// A bookmark shows that the cache is complete up to the bookmark's version, and that the watch is alive.
	server.Skip(1000)
	server.Bookmark()
	if err := informer.WaitForVersion(context.Background(), bakeries, server.Version()); err != nil {
		fmt.Println(err)
	}
	s, _ := informer.StatusOf(bakeries)
	fmt.Println(s.Name, "is", s.State, "with", s.Objects, "object at version", s.ResourceVersion)
	fmt.Println("last bookmark within a minute:", time.Since(s.LastBookmark) < time.Minute,
		"last error:", s.LastError)
	for _, h := range s.Handlers {
		fmt.Println("handler", h.Name, "synced:", h.Synced, "waiting:", h.Backlog, "panics:", h.Panics)
	}
	// Output:
	// informer of shop.kubewright.dev/v1 bakeries is Watching with 1 object at version 1101
	// last bookmark within a minute: true last error: <nil>
	// handler audit synced: true waiting: 0 panics: 0
}

// A check for /readyz reports which informer isn't ready, and why. Without Synced it is a check for /livez.
// controller-runtime's AddReadyzCheck accepts it. Statuses returns the states of all informers of a factory,
// for people to read.
func Example_readiness() {
	client := fake.NewSimpleClientset()
	client.PrependReactor("list", "markets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(shopv1.Resource("markets"), "")
	})
	shop := externalversions.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	bakeries := shop.Shop().V1().Bakeries().Informer()
	shop.Shop().V1().Markets().Informer()
	ready := factory.HealthCheck(shop,
		informer.HealthOptions{Synced: true, SilentFor: 5 * time.Minute, Backlog: 10_000})
	shop.StartWithContext(ctx)
	// Wait until the informer has found that markets aren't served.
	_ = factory.WaitForSyncOr(ctx, shop, (*informer.SyncError).Permanent)
	_ = informer.WaitForSync(ctx, bakeries)

	var unsynced *informer.SyncError
	if errors.As(ready(nil), &unsynced) {
		fmt.Println(unsynced.Informer, "is", unsynced.Reason)
	}
	statuses, _ := factory.Statuses(shop)
	for _, s := range statuses {
		fmt.Println(s.Name, "synced:", s.Synced)
	}
	// Output:
	// informer of shop.kubewright.dev/v1 markets is not served
	// informer of shop.kubewright.dev/v1 bakeries synced: true
	// informer of shop.kubewright.dev/v1 markets synced: false
}
