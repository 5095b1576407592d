package kwsharding

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/contrib/prometheus/shardingmetrics"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/sharding"
)

// Shards let the controllers of a manager share their objects with those of other replicas. [Shard] makes
// them. Objects are sharded by namespace if T, the type of requests, is reconcile.Request, and by UID if it
// is UIDRequest. All methods are safe for concurrent use, and so are the member's. Don't call the member's
// Run: the manager does.
type Shards[T Request] struct {
	*sharding.Member
	metrics *shardingmetrics.Collector
}

// Shard makes a manager a member of a group, before it is started:
//
//	config.Wrap(sharding.FencingTransport)
//	mgr, err := manager.New(config, manager.Options{NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache})
//	...
//	shards, err := kwsharding.Shard[reconcile.Request](mgr, sharding.Config{
//		Leases: leases, Group: "bakery-controller", Identity: podName,
//	}, &shopv1.Bakery{}, &appsv1.Deployment{})
//	...
//	err = shards.Complete(ctrl.NewControllerManagedBy(mgr).For(&shopv1.Bakery{}).Owns(&appsv1.Deployment{}),
//		reconciler, controller.Options{})
//
// The manager's cache then has only the member's part of the given kinds, for everything that reads from it.
// Each object stands for its kind and its form: pass a PartialObjectMetadata for cached metadata, and an
// Unstructured for cached unstructured objects. All members must shard the same kinds. By UID, shard only the
// kinds that are reconciled: their dependents have UIDs of their own, and so maybe belong to other members.
//
// The manager runs the member, elected or not. When it stops, reconciles end first, then the member gives up
// its ranges, then the caches stop. DrainGrace is 10 s by default here, because leaving may take twice that,
// and managers wait for 30 s. Leave Field, Kinds and Informers of the configuration empty: Shard sets them.
// Metrics of package shardingmetrics are in controller-runtime's registry while the member runs.
//
// Shard returns an error if the manager's cache isn't one of [kwctrl.Caches], has started, or is limited to
// some namespaces, even one. It also does if writes of the manager's clients don't pass
// [sharding.FencingTransport], which must be the last of several wrappers of a configuration.
func Shard[T Request](
	mgr manager.Manager, config sharding.Config, objects ...client.Object,
) (*Shards[T], error) {
	if config.Field != "" || config.Kinds != nil || config.Informers != nil {
		return nil, errors.New(
			"kwsharding: leave Field, Kinds and Informers of the sharding.Config empty: Shard sets them")
	}
	if len(objects) == 0 {
		return nil, errors.New("kwsharding: pass Shard an object of each kind that is to be sharded")
	}
	if !isGuarded(mgr.GetHTTPClient().Transport) {
		return nil, errors.New("kwsharding: the manager's clients would write whatever another member owns: " +
			"call config.Wrap(sharding.FencingTransport), after other wrappers, before the manager is made")
	}
	for _, object := range objects {
		if err := addKind(&config, mgr, object); err != nil {
			return nil, err
		}
	}
	config.Field = shardField[T]()
	if config.DrainGrace == 0 {
		config.DrainGrace = 10 * time.Second
	}
	member, err := sharding.NewMember(config)
	if errors.Is(err, informer.ErrUnsupportedInformer) {
		return nil, fmt.Errorf(
			"kwsharding: set the manager's NewCache to kwctrl.NewCaches(kwctrl.Options{}).NewCache: %w", err)
	}
	if err != nil {
		return nil, err
	}
	shards := &Shards[T]{member, shardingmetrics.New(config.Group, member)}
	logger := mgr.GetLogger().WithName("sharding")
	return shards, mgr.Add(runnable(func(ctx context.Context) error {
		if err := metrics.Registry.Register(shards.metrics); err != nil {
			return err
		}
		defer metrics.Registry.Unregister(shards.metrics)
		return member.Run(klog.NewContext(ctx, logger))
	}))
}

// addKind adds the kind of an object, and its informer in a manager's cache, to a configuration.
func addKind(config *sharding.Config, mgr manager.Manager, object client.Object) error {
	kind, err := apiutil.GVKForObject(object, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("kwsharding: shard %T: %w", object, err)
	}
	mapping, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return fmt.Errorf("kwsharding: shard %T: %w", object, err)
	}
	// Nothing waits: the cache hasn't started.
	made, err := mgr.GetCache().GetInformer(context.Background(), object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("kwsharding: shard %T: %w", object, err)
	}
	one, ok := made.(toolscache.SharedInformer)
	if !ok {
		return fmt.Errorf(
			"kwsharding: shard %T: the cache has a %T, not one informer for all namespaces: "+
				"leave the namespaces of the manager's cache.Options empty", object, made)
	}
	config.Kinds = append(config.Kinds, mapping.Resource.GroupResource().String())
	config.Informers = append(config.Informers, one)
	return nil
}

// isGuarded reports whether requests pass sharding.FencingTransport.
func isGuarded(transport http.RoundTripper) bool {
	guard := reflect.TypeOf(sharding.FencingTransport(nil))
	for {
		if reflect.TypeOf(transport) == guard {
			return true
		}
		outer, ok := transport.(utilnet.RoundTripperWrapper)
		if !ok {
			return false
		}
		transport = outer.WrappedRoundTripper()
	}
}

// runnable is a function that a manager runs whether elected or not, and ends before the caches.
type runnable func(context.Context) error

func (r runnable) Start(ctx context.Context) error { return r(ctx) }

// NeedLeaderElection returns false.
func (r runnable) NeedLeaderElection() bool { return false }

// Options returns the options of a sharded controller, for [controller.NewTyped]. Its queue accepts and hands
// out only what the member owns, and drops and counts the rest. Its reconciles run in [sharding.Member.Do],
// which waits, and keeps a worker, while the member may not act on what it owns. The controller runs in each
// replica, elected or not.
//
// Reconciler and NeedLeaderElection of o have no effect. NewQueue is [kwctrl.NewQueue] by default, whatever
// UsePriorityQueue says.
func (s *Shards[T]) Options(
	r reconcile.TypedReconciler[T], o controller.TypedOptions[T],
) controller.TypedOptions[T] {
	o.Reconciler = nil // which controller-runtime refuses
	if r != nil {
		o.Reconciler = shardReconciler[T]{s.Member, r}
	}
	o.NewQueue = s.newQueue(o.NewQueue)
	o.NeedLeaderElection = new(false)
	return o
}

// Complete makes a builder's controller a sharded one, with [Shards.Options], and adds it to the manager.
// What WithOptions and WithLogConstructor have set before has no effect.
func (s *Shards[T]) Complete(
	b *builder.TypedBuilder[T], r reconcile.TypedReconciler[T], o controller.TypedOptions[T],
) error {
	o = s.Options(r, o)
	r, o.Reconciler = o.Reconciler, nil
	return b.WithOptions(o).Complete(r)
}

// shardReconciler runs reconciles as work of a member.
type shardReconciler[T Request] struct {
	member *sharding.Member
	inner  reconcile.TypedReconciler[T]
}

// Reconcile has the request added again if it isn't the member's, or if the member had to stop it. The queue
// drops it if it is another member's by then.
func (s shardReconciler[T]) Reconcile(ctx context.Context, request T) (result reconcile.Result, err error) {
	err = s.member.Do(ctx, hashedValue(request), func(working context.Context, _ sharding.Owned) error {
		var err error
		result, err = s.inner.Reconcile(working, request)
		if err != nil && working.Err() != nil && ctx.Err() == nil {
			return sharding.ErrNotOwned
		}
		return err
	})
	if errors.Is(err, sharding.ErrNotOwned) {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	return result, err
}

// soon is the delay before a reconcile that the member had to stop is tried again. Do then waits until it may
// begin.
const soon = time.Second
