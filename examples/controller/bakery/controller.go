// Package bakery is a complete small controller. It gives every Bakery a
// status: how many bakers are at work, what they bake, and whether the bakery
// is open. The status depends on the bakery and on the Market where it sells.
//
// It is written like most controllers: handlers put names into a queue, workers take them
// out, read the caches, and write the difference. A name may be queued twice or late, since a
// worker looks at the state, not at the event.
package bakery

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	shoplisters "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/informer"
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
	read     []cache.SharedInformer // the informers behind the listers
	log      klog.Logger

	// Queue holds the names of bakeries to reconcile, and Reconcile reconciles one. A program may wrap
	// them before it starts the informers, as examples/sharded does.
	Queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	Reconcile func(context.Context, cache.ObjectName) error
}

// New returns a controller that reads the caches of informers, a factory that has not been started
// yet, and writes through client. It logs to the logger of ctx.
func New(
	ctx context.Context, client versioned.Interface, informers shopinformers.Interface,
) (*Controller, error) {
	bakeries, markets := informers.Bakeries(), informers.Markets()
	c := &Controller{
		client:   client,
		bakeries: bakeries.Lister(),
		markets:  markets.Lister(),
		index:    bakeries.TypedInformer().GetTypedIndexer(),
		read:     []cache.SharedInformer{bakeries.Informer(), markets.Informer()},
		log:      klog.FromContext(ctx),
		Queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "bakeries"},
		),
	}
	c.Reconcile = c.reconcile
	indexed := bakeries.TypedInformer().AddTypedIndexers(shopinformers.BakeryIndexers{
		byMarket: func(b *shopv1.Bakery) ([]string, error) { return []string{b.Spec.Market}, nil },
	})
	_, bakeryErr := bakeries.TypedInformer().AddTypedEventHandler(c.bakeryHandler())
	_, marketErr := markets.TypedInformer().AddTypedEventHandler(c.marketHandler())
	return c, errors.Join(indexed, bakeryErr, marketErr)
}

// Run works with that many workers until ctx is done, and returns when they have stopped. If ctx
// is done before the caches are filled, it returns an error with the reason.
func (c *Controller) Run(ctx context.Context, workers int) error {
	defer c.Queue.ShutDown()
	if err := informer.WaitForSync(ctx, c.read...); err != nil {
		return err
	}
	c.log.Info("Started", "workers", workers)
	return workqueue.Run(ctx, c.Queue, workers,
		func(ctx context.Context, bakery cache.ObjectName) (workqueue.Result, error) {
			return workqueue.Result{}, c.Reconcile(ctx, bakery)
		}, workqueue.WithErrorHandler(c.report))
}

// report logs the error of a bakery, which will be retried. It doesn't log conflicts, which only
// mean that the cache was behind.
func (c *Controller) report(_ context.Context, bakery any, err error) {
	if !apierrors.IsConflict(err) {
		c.log.Error(err, "Will try again", "bakery", bakery)
	}
}
