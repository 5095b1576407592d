package kwsharding_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// bakery is a group of replicas that share config maps. Reconciling one copies its "wanted" to "baked".
type bakery[T kwsharding.Request] struct {
	t      *testing.T
	maps   *configmaps.Server
	leases *leases
	// group is that of the replicas if ranges move only when the test moves them, else nil. With it, leases
	// isn't used.
	group *shardingtest.Group
	// ownWrites says whether the controllers wait for their own writes.
	ownWrites bool

	mu       sync.Mutex
	replicas []*replica[T]
	// running is the replica that reconciles a request now, done how often each replica has begun to.
	running map[string]*replica[T]
	done    map[*replica[T]]map[string]int
	// during is called in each reconcile, with its context. A reconcile fails if it returns an error.
	during func(context.Context, *replica[T], T) error
}

// replica is a manager with a sharded controller.
type replica[T kwsharding.Request] struct {
	manager.Manager
	*kwsharding.Shards[T]
	name   string
	caches *kwctrl.Caches
	queue  workqueue.TypedRateLimitingInterface[T]
	stop   context.CancelFunc
	// ended has what Start returned.
	ended chan error
}

// inBakery runs a test in a bubble, and stops what still runs at its end.
func inBakery[T kwsharding.Request](t *testing.T, test func(*testing.T, *bakery[T])) {
	synctest.Test(t, func(t *testing.T) {
		b := &bakery[T]{
			t: t, maps: configmaps.New(), leases: newLeases(),
			running: map[string]*replica[T]{}, done: map[*replica[T]]map[string]int{},
		}
		b.maps.Sharding(true, true)
		test(t, b)
		for _, r := range b.replicas {
			r.stop()
			if err := <-r.ended; err != nil {
				t.Errorf("%s ended with %v", r.name, err)
			}
		}
	})
}

// fill creates objects in namespaces.
func (b *bakery[T]) fill(objects, namespaces int) {
	for i := range objects {
		b.maps.Create(bread(fmt.Sprintf("town-%d", i%namespaces), fmt.Sprintf("bread-%d", i)))
	}
}

func bread(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"wanted": "1"},
	}
}

// want sets "wanted" of an object.
func (b *bakery[T]) want(namespace, name, what string) {
	b.maps.Change(namespace, name, func(object *corev1.ConfigMap) { object.Data["wanted"] = what })
}

// managerOptions are those of managers of a test.
func managerOptions() manager.Options {
	return manager.Options{
		NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return configmaps.Mapper(), nil
		},
		Metrics:    server.Options{BindAddress: "0"},
		Logger:     logr.Discard(),
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
}

// join starts another replica.
func (b *bakery[T]) join(name string) *replica[T] {
	b.t.Helper()
	config := &rest.Config{Host: "http://bakery", QPS: -1, Transport: b.maps}
	managers := managerOptions()
	tracker := &ownwrites.Tracker{}
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
	if b.ownWrites {
		config.Wrap(tracker.Transport)
		managers.NewCache = caches.NewCache
	}
	config.Wrap(sharding.FencingTransport)
	mgr, err := manager.New(config, managers)
	if err != nil {
		b.t.Fatal(err)
	}
	member := sharding.Config{Leases: b.leases, Group: "bakers", Identity: name}
	if b.group != nil {
		member = b.group.Config(member)
	}
	shards, err := kwsharding.Shard[T](mgr, member, &corev1.ConfigMap{})
	if err != nil {
		b.t.Fatal(err)
	}
	r := &replica[T]{Manager: mgr, Shards: shards, name: name, caches: caches, ended: make(chan error, 1)}
	queue := source.TypedFunc[T](func(_ context.Context, q workqueue.TypedRateLimitingInterface[T]) error {
		r.queue = q
		return nil
	})
	var reconciler reconcile.TypedReconciler[T] = reconcile.TypedFunc[T](
		func(ctx context.Context, request T) (reconcile.Result, error) {
			return reconcile.Result{}, b.reconcile(ctx, r, request)
		})
	options := controller.TypedOptions[T]{MaxConcurrentReconciles: 4}
	if b.ownWrites {
		if reconciler, options, err = kwctrl.OwnWrites(caches, reconciler, options); err != nil {
			b.t.Fatal(err)
		}
	}
	var complete error
	switch shards := any(shards).(type) { // Handlers of the two types of requests have different types.
	case *kwsharding.Shards[reconcile.Request]:
		b := builder.ControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).
			WatchesRawSource(any(queue).(source.Source))
		complete = shards.Complete(b, any(reconciler).(reconcile.Reconciler),
			any(options).(controller.Options))
	case *kwsharding.Shards[kwsharding.UIDRequest]:
		b := builder.TypedControllerManagedBy[kwsharding.UIDRequest](mgr).Named(name).
			Watches(&corev1.ConfigMap{}, kwsharding.EnqueueUID())
		complete = shards.Complete(b, any(reconciler).(reconcile.TypedReconciler[kwsharding.UIDRequest]),
			any(options).(controller.TypedOptions[kwsharding.UIDRequest]))
	}
	if complete != nil {
		b.t.Fatal(complete)
	}
	ctx, stop := context.WithCancel(b.t.Context())
	r.stop = stop
	b.mu.Lock()
	b.replicas, b.done[r] = append(b.replicas, r), map[string]int{}
	b.mu.Unlock()
	go func() { r.ended <- mgr.Start(ctx) }()
	return r
}

// leave stops a replica and waits until it has ended.
func (b *bakery[T]) leave(r *replica[T]) {
	b.t.Helper()
	r.stop()
	if err := <-r.ended; err != nil {
		b.t.Errorf("%s ended with %v", r.name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = slices.DeleteFunc(b.replicas, func(other *replica[T]) bool { return other == r })
}

// keyOf returns the name of the object of a request.
func keyOf[T kwsharding.Request](request T) client.ObjectKey {
	if byUID, ok := any(request).(kwsharding.UIDRequest); ok {
		return byUID.NamespacedName
	}
	return any(request).(reconcile.Request).NamespacedName
}

// reconcile bakes the object of a request. It takes some time.
func (b *bakery[T]) reconcile(ctx context.Context, r *replica[T], request T) error {
	what := fmt.Sprint(request)
	b.mu.Lock()
	if other := b.running[what]; other != nil {
		b.t.Errorf("%s: %s reconciles %s while %s does", guarantee.OneOwner, r.name, what, other.name)
	}
	b.running[what] = r
	b.done[r][what]++
	during := b.during
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, what)
	}()
	bubble.Pass(20 * time.Millisecond)
	if during != nil {
		if err := during(ctx, r, request); err != nil {
			return err
		}
	}
	return b.bake(ctx, r, keyOf(request))
}

// bake reads an object from the cache, copies its "wanted" to "baked" and writes it.
func (b *bakery[T]) bake(ctx context.Context, r *replica[T], key client.ObjectKey) error {
	var object corev1.ConfigMap
	if err := r.GetClient().Get(ctx, key, &object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if object.Data["baked"] == object.Data["wanted"] {
		return nil
	}
	object.Data["baked"] = object.Data["wanted"]
	return r.GetClient().Update(ctx, &object)
}

// settle lets time pass until the load is balanced and everything is baked.
func (b *bakery[T]) settle() {
	for range 4 {
		bubble.Advance(20 * time.Second)
		b.maps.Bookmark()
	}
	bubble.Advance(time.Second)
}

// value returns what of an object is hashed.
func (b *bakery[T]) value(object *corev1.ConfigMap) string {
	if _, byUID := any(*new(T)).(kwsharding.UIDRequest); byUID {
		return string(object.UID)
	}
	return object.Namespace
}

// check checks that everything is baked, that each object has one owner, and that only the owner's cache has
// it.
func (b *bakery[T]) check(what string) {
	b.t.Helper()
	b.settle()
	owned := map[*replica[T]][]string{}
	for _, object := range b.maps.Objects() {
		if object.Data["baked"] != object.Data["wanted"] {
			b.t.Errorf("%s: %s: %s/%s has %q wanted and %q baked", guarantee.NoneUnowned, what,
				object.Namespace, object.Name, object.Data["wanted"], object.Data["baked"])
		}
		owners := 0
		for _, r := range b.replicas {
			if _, ok := r.Owns(b.value(object)); ok {
				owned[r] = append(owned[r], object.Namespace+"/"+object.Name)
				owners++
			}
		}
		if owners != 1 {
			about := guarantee.OneOwner
			if owners == 0 {
				about = guarantee.NoneUnowned
			}
			b.t.Errorf("%s: %s: %s/%s has %d owners", about, what, object.Namespace, object.Name, owners)
		}
	}
	for _, r := range b.replicas {
		var list corev1.ConfigMapList
		if err := r.GetClient().List(b.t.Context(), &list); err != nil {
			b.t.Error(err)
		}
		var cached []string
		for _, object := range list.Items {
			cached = append(cached, object.Namespace+"/"+object.Name)
		}
		slices.Sort(cached)
		slices.Sort(owned[r])
		if !slices.Equal(cached, owned[r]) || len(cached) == 0 {
			b.t.Errorf("%s: %s: %s has %d objects in its cache, and owns %d", guarantee.Converging, what, r.name,
				len(cached), len(owned[r]))
		}
	}
}

// doneBy returns how many reconciles of how many different requests a replica has begun.
func (b *bakery[T]) doneBy(r *replica[T]) (reconciles, requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.done[r] {
		reconciles += n
	}
	return reconciles, len(b.done[r])
}

// setDuring changes what happens in reconciles.
func (b *bakery[T]) setDuring(during func(context.Context, *replica[T], T) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.during = during
}

// owner returns the replica that owns a namespace, or a UID, and one that doesn't.
func (b *bakery[T]) owner(value string) (owner, other *replica[T]) {
	for _, r := range b.replicas {
		if _, ok := r.Owns(value); ok {
			owner = r
		} else {
			other = r
		}
	}
	return owner, other
}
