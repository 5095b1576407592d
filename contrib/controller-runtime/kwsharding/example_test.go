package kwsharding_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// Two managers share the objects of two towns. Each reconciles those of the town that the test gives it. In
// production, the members elect one that gives each its part.
func Example() {
	server := configmaps.New()
	for _, town := range []string{"oslo", "rome"} {
		server.Create(bread(town, "rye"))
	}
	ctx, stop := context.WithCancel(context.Background())
	group, baked, ended := shardingtest.NewGroup(), make(chan string), make(chan error)
	join := func(name string) *sharding.Member {
		config := &rest.Config{Host: "http://bakery", Transport: server}
		config.Wrap(sharding.FencingTransport)
		mgr, err := manager.New(config, managerOptions()) // with the NewCache of kwctrl
		if err != nil {
			panic(err)
		}
		member := group.Config(sharding.Config{Identity: name}) // in production, it has Leases and a Group
		shards, err := kwsharding.Shard[reconcile.Request](mgr, member, &corev1.ConfigMap{})
		if err != nil {
			panic(err)
		}
		bake := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			baked <- name + " bakes for " + r.Namespace
			return reconcile.Result{}, nil
		})
		err = shards.Complete(
			builder.ControllerManagedBy(mgr).For(&corev1.ConfigMap{}), bake, controller.Options{})
		if err != nil {
			panic(err)
		}
		go func() { ended <- mgr.Start(ctx) }()
		return shards.Member
	}
	anna, ben := join("anna"), join("ben")

	if err := group.Move(ctx, anna, shardingtest.Of("oslo")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-baked)
	if err := group.Move(ctx, ben, shardingtest.Of("rome")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-baked)

	stop()
	fmt.Println(<-ended, <-ended)
	// Output:
	// anna bakes for oslo
	// ben bakes for rome
	// <nil> <nil>
}

// The code of docs/sharding.md for controller-runtime. It is compiled, not run: the tests run managers.
func Example_docsSharding() {
	run := func(
		config *rest.Config, namespace, podName string, reconciler reconcile.Reconciler,
	) (manager.Manager, error) {
		leases := coordination.NewForConfigOrDie(config).Leases(namespace) // not by way of the transport
		config.Wrap(sharding.FencingTransport)
		mgr, err := manager.New(config, manager.Options{NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache})
		if err != nil {
			return nil, err
		}
		shards, err := kwsharding.Shard[reconcile.Request](mgr, sharding.Config{
			Leases:   leases,
			Group:    "bakery-controller",
			Identity: podName,
		}, &batchv1.CronJob{}, &batchv1.Job{})
		if err != nil {
			return nil, err
		}
		err = shards.Complete(
			builder.ControllerManagedBy(mgr).For(&batchv1.CronJob{}).Owns(&batchv1.Job{}),
			reconciler, controller.Options{MaxConcurrentReconciles: 4})
		return mgr, err
	}
	_ = run
	test := func(ctx context.Context, mgr manager.Manager, group *shardingtest.Group) error {
		shards, err := kwsharding.Shard[reconcile.Request](mgr, group.Config(sharding.Config{Identity: "anna"}),
			&batchv1.CronJob{}, &batchv1.Job{})
		if err != nil {
			return err
		}
		err = group.Move(ctx, shards.Member, shardingtest.Of("rome"))
		return err
	}
	_ = test
}

// recipeReader is a reconciler whose objects name a config map in any namespace. The manager's client doesn't
// find objects of other members, so it reads references live.
type recipeReader struct {
	client.Client
	// Live is the manager's GetAPIReader.
	Live client.Reader
}

func (r recipeReader) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var order corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &order); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var recipe corev1.ConfigMap
	named := client.ObjectKey{Namespace: order.Data["recipeNamespace"], Name: order.Data["recipe"]}
	if err := r.Live.Get(ctx, named, &recipe); err != nil {
		return reconcile.Result{}, err
	}
	order.Data["flour"] = recipe.Data["flour"]
	return reconcile.Result{}, r.Update(ctx, &order)
}

// References to objects in other ranges are read live, or from an informer that isn't sharded. That can be
// one of another cache, or the manager's informer of another form of the kind.
func Example_references() {
	reconciler := func(mgr manager.Manager) reconcile.Reconciler {
		return recipeReader{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}
	}
	_ = reconciler // for Complete of Shards
}

// TestShardReferences runs the reconciler of the example with a recipe that another member owns.
func TestShardReferences(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.fill(40, 40)
		b.join("first")
		b.join("second")
		b.check("at first")
		_, other := b.owner("town-0")
		b.maps.Change("town-0", "bread-0", func(recipe *corev1.ConfigMap) { recipe.Data["flour"] = "rye" })
		b.settle()
		own := -1
		for i := range 40 {
			if other.Accepts(fmt.Sprint("town-", i)) {
				own = i
			}
		}
		key := client.ObjectKey{Namespace: fmt.Sprint("town-", own), Name: fmt.Sprint("bread-", own)}
		b.setDuring(func(ctx context.Context, r *replica[reconcile.Request], request reconcile.Request) error {
			if request.NamespacedName != key {
				return nil
			}
			b.setDuring(nil)
			var recipe corev1.ConfigMap
			err := r.GetClient().Get(ctx, client.ObjectKey{Namespace: "town-0", Name: "bread-0"}, &recipe)
			if !apierrors.IsNotFound(err) {
				t.Errorf("the cache has what another member owns: error %v", err)
			}
			_, err = recipeReader{r.GetClient(), r.GetAPIReader()}.Reconcile(ctx, request)
			return err
		})
		b.maps.Change(key.Namespace, key.Name, func(order *corev1.ConfigMap) {
			order.Data["recipeNamespace"], order.Data["recipe"] = "town-0", "bread-0"
		})
		b.settle()
		if order, _ := b.maps.Get(key.Namespace, key.Name); order.Data["flour"] != "rye" {
			t.Errorf("the order has %v", order.Data)
		}
	})
}
