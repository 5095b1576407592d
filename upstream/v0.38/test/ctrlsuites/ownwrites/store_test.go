//go:build linux

package ownwrites

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistency"
	"k8s.io/client-go/util/workqueue"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	listers "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
)

func init() { rows = append(rows, row{"client-go v0.38's `ConsistencyStore`", runStore}) }

// runStore runs rounds with client-go's informer, queue and store of written versions, as the controllers of
// kube-controller-manager use it: a reconcile begins with EnsureReady, and one that isn't ready fails, so
// that its key comes back after its back-off.
func runStore(ctx context.Context, r *rounds, s setting) error {
	client, err := versioned.NewForConfig(s.config)
	if err != nil {
		return err
	}
	bakeries := client.ShopV1().Bakeries(s.namespace)
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return bakeries.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return bakeries.Watch(ctx, o)
		},
	}, &shopv1.Bakery{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	resource := schema.GroupResource{Group: shopv1.SchemeGroupVersion.Group, Resource: "bakeries"}
	store := consistency.NewConsistencyStore(map[schema.GroupResource]consistency.LastSyncRVGetter{
		resource: informer.GetStore(),
	})
	all := stored{
		generated{client, listers.NewBakeryLister(informer.GetIndexer()).Bakeries(s.namespace), s.namespace},
		store, resource,
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	add := func(obj any) {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		queue.Add(obj.(*shopv1.Bakery).Name)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }, DeleteFunc: add,
	})
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer queue.ShutDown()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running.Go(func() { informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return context.Cause(ctx)
	}
	for range s.workers {
		running.Go(func() {
			for all.reconcileNext(ctx, r, queue) {
			}
		})
	}
	for _, name := range names() {
		queue.Add(name)
	}
	<-ctx.Done()
	return nil
}

// stored are bakeries with a store of the versions that were written for each.
type stored struct {
	generated
	store    consistency.ConsistencyStore
	resource schema.GroupResource
}

// reconcileNext reconciles a key, and returns false after the last one. Reconciles that aren't ready count.
func (s stored) reconcileNext(
	ctx context.Context, r *rounds, queue workqueue.TypedRateLimitingInterface[string],
) bool {
	name, shutdown := queue.Get()
	if shutdown {
		return false
	}
	defer queue.Done(name)
	if s.store.EnsureReady(s.key(name)) != nil {
		r.mu.Lock()
		r.runs++
		r.mu.Unlock()
		queue.AddRateLimited(name)
		return true
	}
	again, err := r.reconcile(ctx, s, name)
	switch {
	case err != nil:
		queue.AddRateLimited(name)
	case again:
		queue.Forget(name)
		queue.AddAfter(name, 1)
	default:
		queue.Forget(name)
	}
	return true
}

func (s stored) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.in, Name: name}
}

func (s stored) wrote(object metav1.Object, err error) (metav1.Object, error) {
	if err == nil {
		s.store.WroteAt(s.key(object.GetName()), "", s.resource, object.GetResourceVersion())
	}
	return object, err
}

func (s stored) create(ctx context.Context, name string) (metav1.Object, error) {
	return s.wrote(s.generated.create(ctx, name))
}

func (s stored) update(ctx context.Context, cached metav1.Object, mark string) (metav1.Object, error) {
	return s.wrote(s.generated.update(ctx, cached, mark))
}

func (s stored) updateStatus(ctx context.Context, cached metav1.Object) (metav1.Object, error) {
	return s.wrote(s.generated.updateStatus(ctx, cached))
}

func (s stored) patch(ctx context.Context, name string, patch []byte) (metav1.Object, error) {
	return s.wrote(s.generated.patch(ctx, name, patch))
}
