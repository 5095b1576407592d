package tour

import (
	"cmp"
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/optional"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// What goes beyond client-go, in one controller: no reconcile runs on a cache that lacks its last write, a
// kind that the server doesn't serve stops nothing, and eyes show what informers and queue are doing.
func TestTogether(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	config := serverConfig(t)
	tracker := &ownwrites.Tracker{SkipEchoes: true}
	config.Wrap(tracker.Transport) // before clients are made
	clients, err := versioned.NewForConfig(config)
	must(err)
	definitions, err := optional.NewDefinitions(config)
	must(err)
	informers := externalversions.NewFilteredSharedInformerFactory(clients, 0, namespace(t), nil)
	must(factory.Configure(informers, informer.Options{Definitions: definitions})) // before informers are made

	bakeries := informers.Shop().V1().Bakeries()
	must(tracker.Add(bakeries.Informer()))
	q := ownwrites.NewQueue(tracker, queue.Config[cache.ObjectName]{})
	key := func(old, changed *shopv1.Bakery) []cache.ObjectName { // one of them may be nil
		return []cache.ObjectName{cache.MetaObjectToName(cmp.Or(changed, old))}
	}
	_, err = bakeries.Informer().AddEventHandler(workqueue.Enqueue(q, key))
	must(err)

	claimed, err := client.For[*resourcev1.ResourceClaim, *resourcev1.ResourceClaimList](config, scheme.Scheme)
	must(err)
	claims, err := factory.For(informers, claimed)
	must(err)
	claims.Informer() // before the factory starts; its lister is empty while the kind is absent

	e := eyes.New(eyes.Options{}) // an http.Handler; mount it where your metrics are
	e.AddFactory("shop", informers)
	e.AddQueue("hiring", q)

	ctx, cancel := context.WithCancel(t.Context())
	defer informers.Shutdown()
	defer cancel()
	informers.StartWithContext(ctx)
	must(factory.WaitForSync(ctx, informers)) // also claims: an absent kind has nothing to wait for

	// Each run hires a baker and adds the key again. It sees the run before it, so no update is refused.
	var page strings.Builder
	writes := 0
	reconcile := func(ctx context.Context, key cache.ObjectName) (workqueue.Result, error) {
		b, err := bakeries.Lister().Bakeries(key.Namespace).Get(key.Name)
		if err != nil || b.Spec.Bakers == 4 {
			_ = e.Snapshot().WriteText(&page)
			cancel() // ends Run
			return workqueue.Result{}, err
		}
		b = b.DeepCopy() // the cache's must not change
		b.Spec.Bakers++
		writes++
		_, err = clients.ShopV1().Bakeries(key.Namespace).Update(ctx, b, metav1.UpdateOptions{})
		q.Add(key) // with SkipEchoes, the own update adds none
		return workqueue.Result{}, err
	}
	ann := bakery(t, "ann") // with one baker
	_, err = clients.ShopV1().Bakeries(ann.Namespace).Create(ctx, ann, metav1.CreateOptions{})
	must(err)
	must(workqueue.Run(ctx, q, 2, reconcile))
	if writes != 3 {
		t.Errorf("%d updates for three bakers", writes)
	}
	for _, want := range []string{"no findings", "resourceclaims.resource.k8s.io", "Absent", "hiring"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q isn't in\n%s", want, &page)
		}
	}
}
