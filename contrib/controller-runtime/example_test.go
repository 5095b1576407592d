package kwctrl_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
)

func ExampleNewQueue() {
	options := controller.Options{NewQueue: kwctrl.NewQueue[reconcile.Request]}
	_ = options // for controller.New, or WithOptions of a builder
}

// The requests of a controller take turns by namespace.
func ExampleNewPriorityQueue() {
	options := controller.Options{NewQueue: func(
		name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
	) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return kwctrl.NewPriorityQueue(name, queue.Config[reconcile.Request]{
			Limiter: limiter,
			Flow:    func(r reconcile.Request) string { return r.Namespace },
		})
	}}

	q := options.NewQueue("example", nil)
	for _, name := range []string{"greedy/a", "greedy/b", "greedy/c", "modest/a"} {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: name[:6], Name: name[7:]}})
	}
	for q.Len() > 0 {
		request, _ := q.Get()
		fmt.Println(request)
		q.Done(request)
	}
	// Output:
	// greedy/a
	// modest/a
	// greedy/b
	// greedy/c
}

// What docs/controller-runtime.md shows of a manager. It is compiled, not run: the tests run managers.
func Example_docsManager() {
	run := func(config *rest.Config) (manager.Manager, error) {
		caches := kwctrl.New(kwctrl.Options{
			Drop:        []string{"metadata.managedFields"},
			ListsAtOnce: 4,
			ListBudget:  64 << 20,
		})
		mgr, err := manager.New(config, manager.Options{NewCache: caches.NewCache})
		if err != nil {
			return nil, err
		}
		// informer is github.com/kubewright/kubewright/runtime/informer
		err = mgr.AddReadyzCheck("caches", caches.HealthCheck(informer.HealthOptions{Synced: true}))
		return mgr, err
	}
	_ = run
}
