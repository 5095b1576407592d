//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/workqueue"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// item is a bakery in the queue. One that is deleted and created again is another item.
type item struct {
	cache.ObjectName
	uid types.UID
}

// controller reconciles bakeries: it writes into their status the generation that it has seen.
type controller struct {
	job      wire.Job
	client   versioned.Interface
	member   *sharding.Member
	bakeries shopinformers.TypedBakeryInformer
	queue    *sharding.Queue[item]
}

func newController(
	job wire.Job, client versioned.Interface, member *sharding.Member,
	bakeries shopinformers.TypedBakeryInformer,
) (*controller, error) {
	c := &controller{job: job, client: client, member: member, bakeries: bakeries}
	inner := workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[item](5*time.Millisecond, time.Second))
	c.queue = sharding.NewQueue(inner, func(i item) bool { return member.Accepts(c.value(i)) })
	_, err := bakeries.TypedInformer().AddTypedEventHandler(shopinformers.BakeryHandlerFuncs{
		AddFunc:    c.add,
		UpdateFunc: func(_, bakery *shopv1.Bakery) { c.add(bakery) },
	})
	return c, err
}

func (c *controller) add(bakery *shopv1.Bakery) {
	c.queue.Add(item{cache.MetaObjectToName(bakery), bakery.UID})
}

// value returns the part of an item that is hashed.
func (c *controller) value(i item) string {
	if c.job.Field == shard.ByUID {
		return string(i.uid)
	}
	return i.Namespace
}

func (c *controller) run(ctx context.Context, workers int) error {
	defer c.queue.ShutDown()
	return workqueue.Run(ctx, c.queue, workers, c.reconcile,
		workqueue.WithErrorHandler(func(_ context.Context, item any, err error) {
			klog.V(2).InfoS("Will try again", "item", item, "err", err)
		}))
}

func (c *controller) reconcile(ctx context.Context, i item) (workqueue.Result, error) {
	value := c.value(i)
	err := c.member.Do(ctx, value, func(ctx context.Context, owned sharding.Owned) error {
		return c.bake(context.WithValue(ctx, workKey{}, &work{value, owned}), i)
	})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	// The queue drops items that aren't owned any more, but not those that were refused because the Lease
	// lapsed.
	return workqueue.Result{}, err
}

// bake writes the status, or removes the finalizer, unless the cached state needs neither.
func (c *controller) bake(ctx context.Context, i item) error {
	bakery, err := c.bakeries.Lister().Bakeries(i.Namespace).Get(i.Name)
	if err != nil || bakery.UID != i.uid {
		return err
	}
	deleted, finalizer := bakery.DeletionTimestamp != nil, slices.Index(bakery.Finalizers, wire.Finalizer)
	if deleted && finalizer < 0 || !deleted && bakery.Status.ObservedGeneration == bakery.Generation {
		return nil
	}
	if c.job.Careless > 0 {
		<-time.After(c.job.Careless)
		ctx = context.WithoutCancel(ctx)
	}
	client, bakery := c.client.ShopV1().Bakeries(i.Namespace), bakery.DeepCopy()
	if deleted {
		bakery.Finalizers = slices.Delete(bakery.Finalizers, finalizer, finalizer+1)
		_, err = client.Update(ctx, bakery, metav1.UpdateOptions{})
		return err
	}
	bakery.Status.ObservedGeneration = bakery.Generation
	_, err = client.UpdateStatus(ctx, bakery, metav1.UpdateOptions{})
	return err
}

// ServeHTTP answers with the replica's state.
func (c *controller) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	state := wire.State{Objects: map[types.UID]string{}, Dropped: c.queue.Dropped()}
	for _, object := range c.bakeries.Informer().GetStore().List() {
		bakery := object.(*shopv1.Bakery)
		state.Objects[bakery.UID] = bakery.ResourceVersion
	}
	if err := c.member.Health(); err != nil {
		state.Health = err.Error()
	}
	if err := json.NewEncoder(w).Encode(state); err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		klog.ErrorS(err, "The state wasn't sent")
	}
}
