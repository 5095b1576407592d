// Package bakery is a complete small controller. It gives every Bakery a
// status: how many bakers are at work, what they bake, and whether the bakery
// is open. That depends on the bakery and on the Market where it sells.
//
// It is written the way controllers are: handlers put names into a queue,
// workers take them out, look at the caches, and write what is not yet so. A
// name may come twice or late; what counts is the state, not the event.
package bakery

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	shoplisters "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// byMarket is the index of bakeries by the name of their market.
const byMarket = "market"

// Controller keeps the status of bakeries. Make it with New, start the
// informers, then Run it, once.
type Controller struct {
	client   versioned.Interface
	bakeries shoplisters.BakeryLister
	markets  shoplisters.MarketLister
	index    cache.TypedIndexer[*shopv1.Bakery]
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	handlers []cache.ResourceEventHandlerRegistration
	log      klog.Logger
}

// New makes a controller that reads through informers, which are of a factory
// that has not been started yet, and writes through client. It logs to the
// logger of ctx what it sees and does.
func New(ctx context.Context, client versioned.Interface, informers shopinformers.Interface) (*Controller, error) {
	bakeries, markets := informers.Bakeries(), informers.Markets()
	c := &Controller{
		client:   client,
		bakeries: bakeries.Lister(),
		markets:  markets.Lister(),
		index:    bakeries.TypedInformer().GetTypedIndexer(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "bakeries"},
		),
		log: klog.FromContext(ctx),
	}
	indexed := bakeries.TypedInformer().AddTypedIndexers(shopinformers.BakeryIndexers{
		byMarket: func(b *shopv1.Bakery) ([]string, error) { return []string{b.Spec.Market}, nil },
	})
	handled := errors.Join(
		c.handle(bakeries.TypedInformer().AddTypedEventHandler(c.bakeryHandler())),
		c.handle(markets.TypedInformer().AddTypedEventHandler(c.marketHandler())),
	)
	return c, errors.Join(indexed, handled)
}

func (c *Controller) handle(handler cache.ResourceEventHandlerRegistration, err error) error {
	c.handlers = append(c.handlers, handler)
	return err
}

// Run works with that many workers until ctx is done, and returns when they
// have stopped. It is an error if the caches were not filled before that.
func (c *Controller) Run(ctx context.Context, workers int) error {
	var working sync.WaitGroup
	defer working.Wait()
	defer c.queue.ShutDown()

	filled := make([]cache.DoneChecker, len(c.handlers))
	for i, handler := range c.handlers {
		filled[i] = handler.HasSyncedChecker()
	}
	if !cache.WaitFor(ctx, "caches of the bakery controller", filled...) {
		return context.Cause(ctx)
	}
	c.log.Info("Started", "workers", workers)
	for range workers {
		working.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	return nil
}

// next works off one name. It returns false when the queue has been shut down.
func (c *Controller) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	err := c.reconcile(ctx, name)
	if err == nil {
		c.queue.Forget(name)
		return true
	}
	// A conflict means that the cache was behind; that is no news.
	if !apierrors.IsConflict(err) {
		c.log.Error(err, "Will try again", "bakery", name)
	}
	c.queue.AddRateLimited(name)
	return true
}
