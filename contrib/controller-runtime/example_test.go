package kwctrl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// The caches of a manager: manager.Options{NewCache: caches.NewCache} is all that it takes. Here a cache
// stands alone, before a server with one ConfigMap.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(oneConfigMap))
	defer server.Close()
	mapper := meta.NewDefaultRESTMapper(nil) // a manager discovers it
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)

	options := informer.Options{Drop: []string{"metadata.managedFields"}}
	caches := kwctrl.NewCaches(kwctrl.Options{Options: options})
	cached, err := caches.NewCache(&rest.Config{Host: server.URL}, cache.Options{Mapper: mapper})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- cached.Start(ctx) }()
	cached.WaitForCacheSync(ctx) // until it has started; a manager does that before it runs controllers

	var bread corev1.ConfigMap // the first call makes an informer, and waits for it
	err = cached.Get(ctx, client.ObjectKey{Namespace: "town", Name: "bread"}, &bread)
	fmt.Println(bread.Data["flour"], "with", len(bread.ManagedFields), "managed fields", err)
	for _, status := range caches.Statuses() {
		fmt.Println("synced:", status.Synced, "objects:", status.Objects)
	}
	cancel()
	fmt.Println(<-ended)
	// Output:
	// rye with 0 managed fields <nil>
	// synced: true objects: 1
	// <nil>
}

// oneConfigMap serves lists. A watch stays open without events.
func oneConfigMap(w http.ResponseWriter, r *http.Request) {
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		http.Error(w, "no streamed lists here", http.StatusUnprocessableEntity)
	case query.Get("watch") != "":
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&corev1.ConfigMapList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items: []corev1.ConfigMap{{Data: map[string]string{"flour": "rye"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "bread",
					ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}}}},
		})
	}
}

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

// The manager of docs/controller-runtime.md. It is compiled, not run: the tests run managers.
func Example_docsManager() {
	run := func(config *rest.Config) (manager.Manager, error) {
		caches := kwctrl.NewCaches(kwctrl.Options{Options: informer.Options{
			Drop:    []string{"metadata.managedFields"},
			Limiter: listwatch.NewLimiter(4).WithBudget(64 << 20),
		}})
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

// The caches of docs/controller-runtime.md with a kind that may not be installed.
func Example_docsOptional() {
	caches := kwctrl.NewCaches(kwctrl.Options{Optional: []kwctrl.Kind{{
		GVK: shopv1.SchemeGroupVersion.WithKind("Bakery"), Resource: "bakeries", Namespaced: true,
	}}})
	_ = caches.NewCache // for ctrl.Options
}

// The controller of docs/controller-runtime.md that waits for its own writes. It is compiled, not run.
func Example_docsOwnWrites() {
	run := func(config *rest.Config, reconciler reconcile.Reconciler) (manager.Manager, error) {
		tracker := &ownwrites.Tracker{}
		config.Wrap(tracker.Transport)
		caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
		mgr, err := manager.New(config, manager.Options{NewCache: caches.NewCache})
		if err != nil {
			return nil, err
		}
		tracked, options, err := kwctrl.OwnWrites(caches, reconciler, controller.Options{})
		if err != nil {
			return nil, err
		}
		err = builder.ControllerManagedBy(mgr).For(&appsv1.Deployment{}).WithOptions(options).Complete(tracked)
		return mgr, err
	}
	_ = run
}
