package bakery

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
)

func TestAssess(t *testing.T) {
	for _, test := range []struct {
		name           string
		bakery         *shopv1.Bakery
		market         *shopv1.Market
		bakers, loaves int32
		open           string
	}{
		{"baking", newBakery("b", "m", 3), newMarket("m", 40), 3, 120, shopv1.ReasonBaking},
		{"nobody there", newBakery("b", "m", 0), newMarket("m", 40), 0, 0, shopv1.ReasonNoBakers},
		{"nowhere to sell", newBakery("b", "m", 3), nil, 0, 0, shopv1.ReasonNoMarket},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.bakery.Status = shopv1.BakeryStatus{Bakers: 9, LoavesPerDay: 9}
			assess(test.bakery, test.market)
			got := test.bakery.Status
			if got.Bakers != test.bakers || got.LoavesPerDay != test.loaves ||
				open(test.bakery) != test.open || got.ObservedGeneration != 1 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestReconcileWritesStatus checks that a status is written once, and that the objects of the cache stay
// unchanged.
func TestReconcileWritesStatus(t *testing.T) {
	bakery := newBakery("b", "m", 2)
	client := fake.NewSimpleClientset(bakery)
	c, factory := newController(t, client)
	fill(t, factory.Shop().V1().Bakeries().Informer(), bakery)
	fill(t, factory.Shop().V1().Markets().Informer(), newMarket("m", 10))

	if err := c.reconcile(t.Context(), cache.MetaObjectToName(bakery)); err != nil {
		t.Fatal(err)
	}
	written, err := client.ShopV1().Bakeries("town").Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []clienttesting.Action{
		clienttesting.NewUpdateSubresourceAction(bakeries, "status", "town", written),
		clienttesting.NewGetAction(bakeries, "town", "b"),
	}
	if got := client.Actions(); !reflect.DeepEqual(got, want) {
		t.Errorf("actions\n got %v\nwant %v", got, want)
	}
	if written.Status.LoavesPerDay != 20 || bakery.Status.LoavesPerDay != 0 {
		t.Errorf("%d loaves written, %d in the cache; want 20 and 0", written.Status.LoavesPerDay,
			bakery.Status.LoavesPerDay)
	}

	client.ClearActions()
	fill(t, factory.Shop().V1().Bakeries().Informer(), written)
	if err := c.reconcile(t.Context(), cache.MetaObjectToName(bakery)); err != nil {
		t.Fatal(err)
	}
	if got := client.Actions(); len(got) != 0 {
		t.Errorf("written again: %v", got)
	}
}

func TestReconcileGone(t *testing.T) {
	client := fake.NewSimpleClientset()
	c, _ := newController(t, client)
	if err := c.reconcile(t.Context(), cache.NewObjectName("town", "b")); err != nil {
		t.Error(err)
	}
	if got := client.Actions(); len(got) != 0 {
		t.Errorf("actions %v", got)
	}
}
