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
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
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
		read:     []cache.SharedInformer{bakeries.Informer(), markets.Informer()},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName](),
			workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: "bakeries"},
		),
		log: klog.FromContext(ctx),
	}
	indexed := bakeries.TypedInformer().AddTypedIndexers(shopinformers.BakeryIndexers{
		byMarket: func(b *shopv1.Bakery) ([]string, error) { return []string{b.Spec.Market}, nil },
	})
	_, bakeryErr := bakeries.TypedInformer().AddTypedEventHandler(c.bakeryHandler())
	_, marketErr := markets.TypedInformer().AddTypedEventHandler(c.marketHandler())
	return c, errors.Join(indexed, bakeryErr, marketErr)
}

// Run works with that many workers until ctx is done, and returns when they
// have stopped. It is an error if the caches were not filled before that, which
// says what was in the way.
func (c *Controller) Run(ctx context.Context, workers int) error {
	defer c.queue.ShutDown()
	if err := informer.WaitForSync(ctx, c.read...); err != nil {
		return err
	}
	c.log.Info("Started", "workers", workers)
	return workqueue.Run(ctx, c.queue, workers, func(ctx context.Context, bakery cache.ObjectName) (workqueue.Result, error) {
		return workqueue.Result{}, c.reconcile(ctx, bakery)
	}, workqueue.WithErrorHandler(c.report))
}

// report logs an error of a bakery, which is tried again. A conflict means that
// the cache was behind; that is no news.
func (c *Controller) report(_ context.Context, bakery any, err error) {
	if !apierrors.IsConflict(err) {
		c.log.Error(err, "Will try again", "bakery", bakery)
	}
}
