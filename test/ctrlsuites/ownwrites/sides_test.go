package ownwrites

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	listers "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// A side runs rounds with its clients and caches until ctx ends.
type side func(ctx context.Context, r *rounds, s setting) error

// setting is where a side runs. The configuration has the tracker's transport. If tracks is false, keys don't
// wait. counts, if not nil, count the waits.
type setting struct {
	config    *rest.Config
	namespace string
	tracker   *ownwrites.Tracker
	tracks    bool
	workers   int
	counts    *counts
}

var sides = map[string]side{"generated": runGenerated, "dynamic": runDynamic, "kwctrl": runManager}

// runQueue runs the keys of a queue on an informer that runs.
func runQueue(
	ctx context.Context, r *rounds, s setting, i cache.SharedIndexInformer, all bakeries,
) error {
	if err := s.tracker.Add(i); err != nil {
		return err
	}
	q := queue.New(queue.Config[string]{})
	if s.tracks {
		q = ownwrites.NewQueue(s.tracker, queue.Config[string]{Metrics: s.counts.metrics()})
	}
	add := func(obj any) {
		if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			q.Add(key.Name)
		}
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}
	for _, name := range names() {
		q.Add(name)
	}
	return workqueue.Run(ctx, q, s.workers, func(ctx context.Context, name string) (workqueue.Result, error) {
		again, err := r.reconcile(ctx, all, name)
		if again {
			return workqueue.Result{RequeueAfter: 1}, err
		}
		return workqueue.Result{}, err
	}, workqueue.WithErrorHandler(func(context.Context, any, error) {}))
}

// generated are bakeries with the generated clients.
type generated struct {
	client versioned.Interface
	lister listers.BakeryNamespaceLister
	in     string
}

func runGenerated(ctx context.Context, r *rounds, s setting) error {
	client, err := versioned.NewForConfig(s.config)
	if err != nil {
		return err
	}
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithNamespace(s.namespace))
	informer := factory.Shop().V1().Bakeries()
	cached := informer.Informer()
	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return err
	}
	all := generated{client, informer.Lister().Bakeries(s.namespace), s.namespace}
	return runQueue(ctx, r, s, cached, all)
}

func (g generated) cached(_ context.Context, name string) (metav1.Object, error) {
	return g.lister.Get(name)
}

func (g generated) create(ctx context.Context, name string) (metav1.Object, error) {
	return g.client.ShopV1().Bakeries(g.in).Create(ctx, newBakery(g.in, name), metav1.CreateOptions{})
}

func (g generated) update(ctx context.Context, cached metav1.Object, mark string) (metav1.Object, error) {
	b := cached.(*shopv1.Bakery).DeepCopy()
	b.Annotations = map[string]string{"mark": mark}
	return g.client.ShopV1().Bakeries(g.in).Update(ctx, b, metav1.UpdateOptions{})
}

func (g generated) updateStatus(ctx context.Context, cached metav1.Object) (metav1.Object, error) {
	b := cached.(*shopv1.Bakery).DeepCopy()
	b.Status.LoavesPerDay++
	return g.client.ShopV1().Bakeries(g.in).UpdateStatus(ctx, b, metav1.UpdateOptions{})
}

func (g generated) patch(ctx context.Context, name string, patch []byte) (metav1.Object, error) {
	return g.client.ShopV1().Bakeries(g.in).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
}

func (g generated) remove(ctx context.Context, name string) error {
	return g.client.ShopV1().Bakeries(g.in).Delete(ctx, name, metav1.DeleteOptions{})
}

func newBakery(namespace, name string) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: shopv1.BakerySpec{Bread: "rye"},
	}
}

// untyped are bakeries with dynamic clients.
type untyped struct {
	client dynamic.ResourceInterface
	lister cache.GenericNamespaceLister
	in     string
}

func runDynamic(ctx context.Context, r *rounds, s setting) error {
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	resource := shopv1.SchemeGroupVersion.WithResource("bakeries")
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, s.namespace, nil)
	informer := factory.ForResource(resource)
	cached := informer.Informer()
	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), cached.HasSynced) {
		return context.Cause(ctx)
	}
	all := untyped{client.Resource(resource).Namespace(s.namespace),
		informer.Lister().ByNamespace(s.namespace), s.namespace}
	return runQueue(ctx, r, s, cached, all)
}

func (u untyped) cached(_ context.Context, name string) (metav1.Object, error) {
	object, err := u.lister.Get(name)
	if err != nil {
		return nil, err
	}
	return object.(*unstructured.Unstructured), nil
}

func (u untyped) create(ctx context.Context, name string) (metav1.Object, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newBakery(u.in, name))
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(shopv1.SchemeGroupVersion.WithKind("Bakery"))
	return u.client.Create(ctx, object, metav1.CreateOptions{})
}

func (u untyped) update(ctx context.Context, cached metav1.Object, mark string) (metav1.Object, error) {
	object := cached.(*unstructured.Unstructured).DeepCopy()
	object.SetAnnotations(map[string]string{"mark": mark})
	return u.client.Update(ctx, object, metav1.UpdateOptions{})
}

func (u untyped) updateStatus(ctx context.Context, cached metav1.Object) (metav1.Object, error) {
	object := cached.(*unstructured.Unstructured).DeepCopy()
	loaves, _, err := unstructured.NestedInt64(object.Object, "status", "loavesPerDay")
	if err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(object.Object, loaves+1, "status", "loavesPerDay"); err != nil {
		return nil, err
	}
	return u.client.UpdateStatus(ctx, object, metav1.UpdateOptions{})
}

func (u untyped) patch(ctx context.Context, name string, patch []byte) (metav1.Object, error) {
	return u.client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
}

func (u untyped) remove(ctx context.Context, name string) error {
	return u.client.Delete(ctx, name, metav1.DeleteOptions{})
}

// managed are bakeries with a manager's client.
type managed struct {
	client.Client
	in string
}

func runManager(ctx context.Context, r *rounds, s setting) error {
	return runController(ctx, r, s, kwctrl.NewCaches(kwctrl.Options{OwnWrites: s.tracker}), nil)
}

// runController runs a manager on caches, or on controller-runtime's if they are nil. adjust may be nil.
func runController(
	ctx context.Context, r *rounds, s setting, caches *kwctrl.Caches, adjust func(*ctrl.Options),
) error {
	scheme := runtime.NewScheme()
	if err := shopv1.AddToScheme(scheme); err != nil {
		return err
	}
	options := ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	if caches != nil {
		options.NewCache = caches.NewCache
	}
	if adjust != nil {
		adjust(&options)
	}
	mgr, err := ctrl.NewManager(s.config, options)
	if err != nil {
		return err
	}
	all := managed{mgr.GetClient(), s.namespace}
	var reconciler reconcile.Reconciler = reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			if request.Namespace != s.namespace {
				return reconcile.Result{}, nil
			}
			again, err := r.reconcile(ctx, all, request.Name)
			if again && err == nil {
				return reconcile.Result{RequeueAfter: 1}, nil
			}
			return reconcile.Result{}, err
		})
	o := controller.Options{MaxConcurrentReconciles: s.workers}
	if s.counts != nil {
		o.NewQueue = func(
			name string, limiter upstream.TypedRateLimiter[reconcile.Request],
		) upstream.TypedRateLimitingInterface[reconcile.Request] {
			c := queue.Config[reconcile.Request]{Limiter: limiter, Metrics: s.counts.metrics()}
			return kwctrl.NewPriorityQueue(name, c)
		}
	}
	if s.tracks {
		if reconciler, o, err = kwctrl.OwnWrites(caches, reconciler, o); err != nil {
			return err
		}
	}
	type requests = upstream.TypedRateLimitingInterface[reconcile.Request]
	first := source.Func(func(_ context.Context, q requests) error {
		for _, name := range names() {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: s.namespace, Name: name}})
		}
		return nil
	})
	err = ctrl.NewControllerManagedBy(mgr).For(&shopv1.Bakery{}).WatchesRawSource(first).
		WithOptions(o).Complete(reconciler)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func (m managed) cached(ctx context.Context, name string) (metav1.Object, error) {
	var b shopv1.Bakery
	return &b, m.Get(ctx, types.NamespacedName{Namespace: m.in, Name: name}, &b)
}

func (m managed) create(ctx context.Context, name string) (metav1.Object, error) {
	b := newBakery(m.in, name)
	return b, m.Create(ctx, b)
}

func (m managed) update(ctx context.Context, cached metav1.Object, mark string) (metav1.Object, error) {
	b := cached.(*shopv1.Bakery).DeepCopy()
	b.Annotations = map[string]string{"mark": mark}
	return b, m.Update(ctx, b)
}

func (m managed) updateStatus(ctx context.Context, cached metav1.Object) (metav1.Object, error) {
	b := cached.(*shopv1.Bakery).DeepCopy()
	b.Status.LoavesPerDay++
	return b, m.Status().Update(ctx, b)
}

func (m managed) patch(ctx context.Context, name string, patch []byte) (metav1.Object, error) {
	b := newBakery(m.in, name)
	return b, m.Patch(ctx, b, client.RawPatch(types.MergePatchType, patch))
}

func (m managed) remove(ctx context.Context, name string) error {
	return m.Delete(ctx, newBakery(m.in, name))
}

// run runs a side until its rounds are done.
func run(t *testing.T, r *rounds, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit(t), errors.New("the rounds take too long"))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case <-r.done:
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	case err := <-ended:
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		t.Fatalf("ended early: %v, %v; %d rounds are left, of %d failures the last are %v", err,
			context.Cause(ctx), r.left, len(r.failures), r.failures[max(0, len(r.failures)-3):])
	}
}

// limit returns the time until shortly before the test program's deadline.
func limit(t *testing.T) time.Duration {
	if deadline, ok := t.Deadline(); ok {
		return time.Until(deadline) - 10*time.Second
	}
	return time.Hour
}
