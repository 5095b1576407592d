package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
)

// step is one action through the generated clientset, and its expected consequences.
type step struct {
	title string
	do    func(context.Context, *shop) error
	// sees are the lines that the controller must log, each once.
	sees []string
	// becomes are the statuses that the objects must then have on the server.
	becomes []status
}

type status struct {
	bakery types.NamespacedName
	reason string // of the condition Open
	loaves int32
}

var (
	rye   = types.NamespacedName{Namespace: "town", Name: "rye"}
	wheat = types.NamespacedName{Namespace: "village", Name: "wheat"}
)

const market = "harbour"

// stepTime is far longer than a step takes.
const stepTime = time.Minute

var story = []step{
	{
		title: "A bakery opens in town before there is a market",
		do: func(ctx context.Context, s *shop) error {
			return create(ctx, s, rye, 2)
		},
		sees: []string{
			"Bakery is there  town/rye bread=rye bakers=2",
			"Status written   town/rye bakers=0 loavesPerDay=0 open=NoMarket",
		},
		becomes: []status{{rye, shopv1.ReasonNoMarket, 0}},
	},
	{
		title: "The market opens; it takes 10 loaves from each baker",
		do: func(ctx context.Context, s *shop) error {
			m := &shopv1.Market{ObjectMeta: metav1.ObjectMeta{Name: market},
				Spec: shopv1.MarketSpec{LoavesPerBaker: 10}}
			_, err := s.people.ShopV1().Markets().Create(ctx, m, metav1.CreateOptions{})
			return err
		},
		sees: []string{
			"Market is there  harbour loavesPerBaker=10",
			"Status written   town/rye bakers=2 loavesPerDay=20 open=Baking",
		},
		becomes: []status{{rye, shopv1.ReasonBaking, 20}},
	},
	{
		title: "Three more bakers, through the scale subresource",
		do: func(ctx context.Context, s *shop) error {
			bakeries := s.people.ShopV1().Bakeries(rye.Namespace)
			scale, err := bakeries.GetScale(ctx, rye.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			scale.Spec.Replicas += 3
			_, err = bakeries.UpdateScale(ctx, rye.Name, scale, metav1.UpdateOptions{})
			return err
		},
		sees: []string{
			"Bakery changed   town/rye bread=rye bakers=5",
			"Status written   town/rye bakers=5 loavesPerDay=50 open=Baking",
		},
		becomes: []status{{rye, shopv1.ReasonBaking, 50}},
	},
	{
		title: "Another bakery opens in the village",
		do: func(ctx context.Context, s *shop) error {
			return create(ctx, s, wheat, 1)
		},
		sees: []string{
			"Bakery is there  village/wheat bread=wheat bakers=1",
			"Status written   village/wheat bakers=1 loavesPerDay=10 open=Baking",
		},
		becomes: []status{{wheat, shopv1.ReasonBaking, 10}},
	},
	{
		title: "The market now takes 12 loaves, of both bakeries",
		do: func(ctx context.Context, s *shop) error {
			m, err := s.people.ShopV1().Markets().Get(ctx, market, metav1.GetOptions{})
			if err != nil {
				return err
			}
			m.Spec.LoavesPerBaker = 12
			_, err = s.people.ShopV1().Markets().Update(ctx, m, metav1.UpdateOptions{})
			return err
		},
		sees: []string{
			"Market changed   harbour loavesPerBaker=12",
			"Status written   town/rye bakers=5 loavesPerDay=60 open=Baking",
			"Status written   village/wheat bakers=1 loavesPerDay=12 open=Baking",
		},
		becomes: []status{{rye, shopv1.ReasonBaking, 60}, {wheat, shopv1.ReasonBaking, 12}},
	},
	{
		title: "The controller loses its connection; meanwhile all bakers of the village leave",
		do: func(ctx context.Context, s *shop) error {
			s.proxy.Down()
			defer s.proxy.Up()
			patch := []byte(`{"spec":{"bakers":0}}`)
			_, err := s.people.ShopV1().Bakeries(wheat.Namespace).Patch(ctx, wheat.Name, types.MergePatchType,
				patch, metav1.PatchOptions{})
			return err
		},
		sees: []string{
			"Bakery changed   village/wheat bread=wheat bakers=0",
			"Status written   village/wheat bakers=0 loavesPerDay=0 open=NoBakers",
		},
		becomes: []status{{wheat, shopv1.ReasonNoBakers, 0}},
	},
	{
		title: "The market closes",
		do: func(ctx context.Context, s *shop) error {
			return s.people.ShopV1().Markets().Delete(ctx, market, metav1.DeleteOptions{})
		},
		sees: []string{
			"Market is gone   harbour",
			"Status written   town/rye bakers=0 loavesPerDay=0 open=NoMarket",
			"Status written   village/wheat bakers=0 loavesPerDay=0 open=NoMarket",
		},
		becomes: []status{{rye, shopv1.ReasonNoMarket, 0}, {wheat, shopv1.ReasonNoMarket, 0}},
	},
	{
		title: "So do the bakeries: one is deleted by name, the other with all of its namespace",
		do: func(ctx context.Context, s *shop) error {
			if err := s.people.ShopV1().Bakeries(rye.Namespace).Delete(
				ctx, rye.Name, metav1.DeleteOptions{},
			); err != nil {
				return err
			}
			return s.people.ShopV1().Bakeries(wheat.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{})
		},
		sees: []string{
			"Bakery is gone   town/rye",
			"Bakery is gone   village/wheat",
		},
	},
}

func create(ctx context.Context, s *shop, name types.NamespacedName, bakers int32) error {
	b := &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       shopv1.BakerySpec{Bread: name.Name, Market: market, Bakers: bakers},
	}
	_, err := s.people.ShopV1().Bakeries(name.Namespace).Create(ctx, b, metav1.CreateOptions{})
	return err
}

// tell runs the story and stops at the first step that doesn't go as planned.
func tell(ctx context.Context, s *shop) error {
	for i, step := range story {
		fmt.Printf("\n%d. %s\n", i+1, step.title)
		if err := s.play(ctx, step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		s.steps++
	}
	return nil
}

func (s *shop) play(ctx context.Context, step step) error {
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if err := step.do(ctx, s); err != nil {
		return err
	}
	for _, line := range step.sees {
		if err := s.narrator.expect(ctx, line); err != nil {
			return err
		}
		s.events++
	}
	for _, want := range step.becomes {
		got, err := s.watchStatus(ctx, want)
		if err != nil {
			return err
		}
		fmt.Printf("     server      %s: %s, %d loaves a day\n", want.bakery, got.Message, want.loaves)
		s.statuses++
	}
	return nil
}

// watchStatus watches a bakery on the server, without any cache, until it has the status, and returns its
// condition Open.
func (s *shop) watchStatus(ctx context.Context, want status) (*metav1.Condition, error) {
	w, err := s.people.ShopV1().Bakeries(want.bakery.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", want.bakery.Name).String(),
	})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		b, ok := event.Object.(*shopv1.Bakery)
		if !ok || event.Type == watch.Deleted {
			continue
		}
		open := meta.FindStatusCondition(b.Status.Conditions, shopv1.ConditionOpen)
		if open != nil && open.Reason == want.reason && b.Status.LoavesPerDay == want.loaves {
			return open, nil
		}
	}
	return nil, fmt.Errorf("bakery %s didn't come to %s with %d loaves", want.bakery,
		want.reason, want.loaves)
}

func expectedEvents() (n int) {
	for _, step := range story {
		n += len(step.sees)
	}
	return n
}

func expectedStatuses() (n int) {
	for _, step := range story {
		n += len(step.becomes)
	}
	return n
}
