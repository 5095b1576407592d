package bakery

import (
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
)

// bakeryHandler queues a bakery when it is added and when its spec changes. The controller's own
// changes of the status don't queue it.
func (c *Controller) bakeryHandler() shopinformers.BakeryHandlerFuncs {
	return shopinformers.BakeryHandlerFuncs{
		AddFunc: func(b *shopv1.Bakery) {
			c.log.Info("Bakery is there", "bakery", cache.MetaObjectToName(b), "bread", b.Spec.Bread,
				"bakers", b.Spec.Bakers)
			c.Queue.Add(cache.MetaObjectToName(b))
		},
		UpdateFunc: func(old, b *shopv1.Bakery) {
			if old.Generation == b.Generation {
				return
			}
			c.log.Info("Bakery changed", "bakery", cache.MetaObjectToName(b), "bread", b.Spec.Bread,
				"bakers", b.Spec.Bakers)
			c.Queue.Add(cache.MetaObjectToName(b))
		},
		DeleteFunc: func(b shopinformers.DeletedBakery) {
			// There is nothing to do: the status is gone with the bakery.
			c.log.Info("Bakery is gone", "bakery", b.GetObjectName())
		},
	}
}

// marketHandler queues all bakeries of a market.
func (c *Controller) marketHandler() shopinformers.MarketHandlerFuncs {
	return shopinformers.MarketHandlerFuncs{
		AddFunc: func(m *shopv1.Market) {
			c.log.Info("Market is there", "market", m.Name, "loavesPerBaker", m.Spec.LoavesPerBaker)
			c.queueAllOf(m.Name)
		},
		UpdateFunc: func(old, m *shopv1.Market) {
			if old.Spec == m.Spec {
				return
			}
			c.log.Info("Market changed", "market", m.Name, "loavesPerBaker", m.Spec.LoavesPerBaker)
			c.queueAllOf(m.Name)
		},
		DeleteFunc: func(m shopinformers.DeletedMarket) {
			c.log.Info("Market is gone", "market", m.GetName())
			c.queueAllOf(m.GetName())
		},
	}
}

func (c *Controller) queueAllOf(market string) {
	bakeries, err := c.index.ByTypedIndex(byMarket, market)
	if err != nil {
		c.log.Error(err, "Can't find the bakeries of a market", "market", market)
		return
	}
	for _, b := range bakeries {
		c.Queue.Add(cache.MetaObjectToName(b))
	}
}
