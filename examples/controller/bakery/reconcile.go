package bakery

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// reconcile writes the status of a bakery, unless it is right already or the bakery is gone. If
// the cache doesn't show the last write yet, the next write is a conflict and is retried. A
// controller that creates objects would have a queue of package ownwrites, so as not to create
// them twice.
func (c *Controller) reconcile(ctx context.Context, name cache.ObjectName) error {
	bakery, err := c.bakeries.Bakeries(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	market, err := c.markets.Get(bakery.Spec.Market)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}

	// The lister returns the cache's own object, which must not be changed.
	changed := bakery.DeepCopy()
	assess(changed, market)
	if equality.Semantic.DeepEqual(bakery.Status, changed.Status) {
		return nil
	}
	if _, err := c.client.ShopV1().Bakeries(name.Namespace).UpdateStatus(
		ctx, changed, metav1.UpdateOptions{},
	); err != nil {
		return err
	}
	c.log.Info("Status written", "bakery", name, "bakers", changed.Status.Bakers,
		"loavesPerDay", changed.Status.LoavesPerDay,
		"open", meta.FindStatusCondition(changed.Status.Conditions, shopv1.ConditionOpen).Reason)
	return nil
}

// assess sets the status that the bakery should have. market may be nil.
func assess(bakery *shopv1.Bakery, market *shopv1.Market) {
	status := &bakery.Status
	open := metav1.Condition{
		Type:               shopv1.ConditionOpen,
		ObservedGeneration: bakery.Generation,
	}
	status.ObservedGeneration = bakery.Generation
	status.Bakers, status.LoavesPerDay = 0, 0
	switch {
	case market == nil:
		open.Status, open.Reason = metav1.ConditionFalse, shopv1.ReasonNoMarket
		open.Message = "there is no market " + bakery.Spec.Market
	case bakery.Spec.Bakers == 0:
		open.Status, open.Reason = metav1.ConditionFalse, shopv1.ReasonNoBakers
		open.Message = "nobody works here"
	default:
		status.Bakers = bakery.Spec.Bakers
		status.LoavesPerDay = bakery.Spec.Bakers * market.Spec.LoavesPerBaker
		open.Status, open.Reason = metav1.ConditionTrue, shopv1.ReasonBaking
		open.Message = "bakes " + bakery.Spec.Bread
	}
	meta.SetStatusCondition(&status.Conditions, open)
}
