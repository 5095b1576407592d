package tour

import (
	"context"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/factory"
)

// Programs begin with a generated factory. It has one informer for each type, which all parts of the program
// share. Get listers and informers first, then start the factory, then wait for its caches.
func TestInformerFactory(t *testing.T) {
	clients, err := versioned.NewForConfig(serverConfig(t)) // of server_test.go, like namespace and bakery
	if err != nil {
		t.Fatal(err)
	}
	ann := bakery(t, "ann")
	_, err = clients.ShopV1().Bakeries(ann.Namespace).Create(t.Context(), ann, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	informers := externalversions.NewSharedInformerFactoryWithOptions(clients,
		0, // no resync
		externalversions.WithNamespace(namespace(t)))
	bakeries := informers.Shop().V1().Bakeries()
	lister := bakeries.Lister() // this makes the informer, and so does bakeries.Informer()

	ctx, cancel := context.WithCancel(t.Context())
	defer informers.Shutdown() // waits for the informers, which end with ctx
	defer cancel()
	informers.StartWithContext(ctx)
	// This waits for the caches of all informers that were started. Its error gives no reason.
	if err := informers.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		t.Fatal(err)
	}
	if got, err := lister.Bakeries(ann.Namespace).Get("ann"); err != nil || got.Spec.Bread != "rye" {
		t.Errorf("error %v, %+v, want a bakery of rye", err, got)
	}
	if informers.Shop().V1().Bakeries().Informer() != bakeries.Informer() {
		t.Error("one type has two informers")
	}
}

// An informer that was requested after the start needs another start. WaitForCacheSync overlooks it.
// factory.WaitForSync returns an error, which gives the reason for every informer that hasn't synced.
func TestInformerFactoryNotStarted(t *testing.T) {
	// In this bubble, time stands still until all goroutines wait, and then jumps to the next timer.
	synctest.Test(t, func(t *testing.T) {
		informers := externalversions.NewSharedInformerFactory(fake.NewSimpleClientset(), 0) // see fake_test.go
		ctx, cancel := context.WithCancel(t.Context())
		defer informers.Shutdown()
		defer cancel()
		informers.StartWithContext(ctx)
		bakeries := informers.Shop().V1().Bakeries().Informer() // too late
		if err := informers.WaitForCacheSyncWithContext(ctx).AsError(); err != nil || bakeries.HasSynced() {
			t.Errorf("error %v, synced %t: want a wait that overlooks the informer", err, bakeries.HasSynced())
		}
		if err := factory.WaitForSync(ctx, informers); err == nil {
			t.Error("no error, though the informer was not started")
		}
		informers.StartWithContext(ctx)
		if err := factory.WaitForSync(ctx, informers); err != nil || !bakeries.HasSynced() {
			t.Errorf("after another start: error %v, synced %t", err, bakeries.HasSynced())
		}
	})
}
