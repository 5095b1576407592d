package e2e

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	giftsv1 "github.com/kubewright/kubewright/examples/apis/gift-cards.promo/v1"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shopv1beta1 "github.com/kubewright/kubewright/examples/apis/shop/v1beta1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/scheme"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/gen/client"
)

type object = record.APIObject

// reader has the methods of every generated client.
type reader[T object, L runtime.Object] interface {
	Get(context.Context, string, metav1.GetOptions) (T, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// writer has the further methods of a client whose type isn't read-only.
type writer[T object, L runtime.Object] interface {
	reader[T, L]
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
}

// resource is a type of the examples, and how to reach its generated code.
type resource[T object, L runtime.Object] struct {
	name          string
	clusterScoped bool
	reader        func(versioned.Interface, string) reader[T, L]
	// writer returns the same client, for a type that isn't read-only.
	writer func(versioned.Interface, string) writer[T, L]
	cache  func(externalversions.SharedInformerFactory) informerAndLister[T]
	// make returns an object that the server accepts; number is a field of its spec.
	make   func() T
	number func(T) *int32
	field  string // the JSON name of that field
	// status gives access to the status; nil if clients don't write it.
	status *status[T]
}

type status[T object] struct {
	update func(versioned.Interface, string) updateFunc[T]
	set    func(T)
	isSet  func(T) bool
}

type updateFunc[T object] = func(context.Context, T, metav1.UpdateOptions) (T, error)

type informerAndLister[T object] struct {
	informer cache.TypedSharedIndexInformer[T]
	list     func(labels.Selector) ([]T, error)
	// get gets an object of a namespace, or of the cluster.
	get func(namespace, name string) (T, error)
}

// testable hides a resource's type parameters.
type testable interface {
	testVerbs(*testing.T)
	testInformer(*testing.T)
}

// everything has one resource of each kind that the examples have.
var everything = map[string]testable{
	"Bakery v1":      bakeries,
	"Bakery v1beta1": oldBakeries,
	"Market":         markets,
	"Inspection":     inspections,
	"GiftCard":       giftCards,
	"Person":         people,
}

var bakeries = resource[*shopv1.Bakery, *shopv1.BakeryList]{
	name: "bakeries.shop.kubewright.dev",
	reader: func(c versioned.Interface, ns string) reader[*shopv1.Bakery, *shopv1.BakeryList] {
		return c.ShopV1().Bakeries(ns)
	},
	writer: func(c versioned.Interface, ns string) writer[*shopv1.Bakery, *shopv1.BakeryList] {
		return c.ShopV1().Bakeries(ns)
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*shopv1.Bakery] {
		b := f.Shop().V1().Bakeries()
		return informerAndLister[*shopv1.Bakery]{b.TypedInformer(), b.Lister().List,
			func(ns, name string) (*shopv1.Bakery, error) {
				return b.Lister().Bakeries(ns).Get(name)
			}}
	},
	make:   func() *shopv1.Bakery { return &shopv1.Bakery{Spec: shopv1.BakerySpec{Bread: "rye"}} },
	number: func(b *shopv1.Bakery) *int32 { return &b.Spec.Bakers },
	field:  "bakers",
	status: &status[*shopv1.Bakery]{
		update: func(c versioned.Interface, ns string) updateFunc[*shopv1.Bakery] {
			return c.ShopV1().Bakeries(ns).UpdateStatus
		},
		set:   func(b *shopv1.Bakery) { b.Status.LoavesPerDay = 30 },
		isSet: func(b *shopv1.Bakery) bool { return b.Status.LoavesPerDay == 30 },
	},
}

var oldBakeries = resource[*shopv1beta1.Bakery, *shopv1beta1.BakeryList]{
	name: "bakeries.shop.kubewright.dev",
	reader: func(c versioned.Interface, ns string) reader[*shopv1beta1.Bakery, *shopv1beta1.BakeryList] {
		return c.ShopV1beta1().Bakeries(ns)
	},
	writer: func(c versioned.Interface, ns string) writer[*shopv1beta1.Bakery, *shopv1beta1.BakeryList] {
		return c.ShopV1beta1().Bakeries(ns)
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*shopv1beta1.Bakery] {
		b := f.Shop().V1beta1().Bakeries()
		return informerAndLister[*shopv1beta1.Bakery]{b.TypedInformer(), b.Lister().List,
			func(ns, name string) (*shopv1beta1.Bakery, error) {
				return b.Lister().Bakeries(ns).Get(name)
			}}
	},
	make: func() *shopv1beta1.Bakery {
		return &shopv1beta1.Bakery{Spec: shopv1beta1.BakerySpec{Bread: "rye"}}
	},
	number: func(b *shopv1beta1.Bakery) *int32 { return &b.Spec.Bakers },
	field:  "bakers",
}

var markets = resource[*shopv1.Market, *shopv1.MarketList]{
	name:          "markets.shop.kubewright.dev",
	clusterScoped: true,
	reader: func(c versioned.Interface, _ string) reader[*shopv1.Market, *shopv1.MarketList] {
		return c.ShopV1().Markets()
	},
	writer: func(c versioned.Interface, _ string) writer[*shopv1.Market, *shopv1.MarketList] {
		return c.ShopV1().Markets()
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*shopv1.Market] {
		m := f.Shop().V1().Markets()
		return informerAndLister[*shopv1.Market]{m.TypedInformer(), m.Lister().List,
			func(_, name string) (*shopv1.Market, error) {
				return m.Lister().Get(name)
			}}
	},
	make:   func() *shopv1.Market { return &shopv1.Market{} },
	number: func(m *shopv1.Market) *int32 { return &m.Spec.LoavesPerBaker },
	field:  "loavesPerBaker",
}

var inspections = resource[*shopv1.Inspection, *shopv1.InspectionList]{
	name: "inspections.shop.kubewright.dev",
	reader: func(c versioned.Interface, ns string) reader[*shopv1.Inspection, *shopv1.InspectionList] {
		return c.ShopV1().Inspections(ns)
	},
	writer: func(c versioned.Interface, ns string) writer[*shopv1.Inspection, *shopv1.InspectionList] {
		return client.NewWithList[*shopv1.Inspection, *shopv1.InspectionList](
			c.ShopV1().RESTClient(), scheme.ParameterCodec, "inspections", ns)
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*shopv1.Inspection] {
		i := f.Shop().V1().Inspections()
		return informerAndLister[*shopv1.Inspection]{i.TypedInformer(), i.Lister().List,
			func(ns, name string) (*shopv1.Inspection, error) {
				return i.Lister().Inspections(ns).Get(name)
			}}
	},
	make: func() *shopv1.Inspection {
		return &shopv1.Inspection{Spec: shopv1.InspectionSpec{Bakery: "rye"}}
	},
}

var giftCards = resource[*giftsv1.GiftCard, *giftsv1.GiftCardList]{
	name: "giftcards.gift-cards.promo.kubewright.dev",
	reader: func(c versioned.Interface, ns string) reader[*giftsv1.GiftCard, *giftsv1.GiftCardList] {
		return c.GiftCardsV1().GiftCards(ns)
	},
	writer: func(c versioned.Interface, ns string) writer[*giftsv1.GiftCard, *giftsv1.GiftCardList] {
		return c.GiftCardsV1().GiftCards(ns)
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*giftsv1.GiftCard] {
		g := f.GiftCards().V1().GiftCards()
		return informerAndLister[*giftsv1.GiftCard]{g.TypedInformer(), g.Lister().List,
			func(ns, name string) (*giftsv1.GiftCard, error) {
				return g.Lister().GiftCards(ns).Get(name)
			}}
	},
	make:   func() *giftsv1.GiftCard { return &giftsv1.GiftCard{Spec: giftsv1.GiftCardSpec{Loaves: 1}} },
	number: func(g *giftsv1.GiftCard) *int32 { return &g.Spec.Loaves },
	field:  "loaves",
	status: &status[*giftsv1.GiftCard]{
		update: func(c versioned.Interface, ns string) updateFunc[*giftsv1.GiftCard] {
			return c.GiftCardsV1().GiftCards(ns).UpdateStatus
		},
		set:   func(g *giftsv1.GiftCard) { g.Status.Redeemed = true },
		isSet: func(g *giftsv1.GiftCard) bool { return g.Status.Redeemed },
	},
}

var people = resource[*giftsv1.Person, *giftsv1.PersonList]{
	name: "people.gift-cards.promo.kubewright.dev",
	reader: func(c versioned.Interface, ns string) reader[*giftsv1.Person, *giftsv1.PersonList] {
		return c.GiftCardsV1().Persons(ns)
	},
	writer: func(c versioned.Interface, ns string) writer[*giftsv1.Person, *giftsv1.PersonList] {
		return c.GiftCardsV1().Persons(ns)
	},
	cache: func(f externalversions.SharedInformerFactory) informerAndLister[*giftsv1.Person] {
		p := f.GiftCards().V1().Persons()
		return informerAndLister[*giftsv1.Person]{p.TypedInformer(), p.Lister().List,
			func(ns, name string) (*giftsv1.Person, error) {
				return p.Lister().Persons(ns).Get(name)
			}}
	},
	make: func() *giftsv1.Person {
		return &giftsv1.Person{Spec: giftsv1.PersonSpec{FullName: "Ada Baker"}}
	},
}

// scopeLabel holds the scope of the test that an object belongs to.
const scopeLabel = "test"

// named returns an object of that name in the scope.
func (r resource[T, L]) named(scope, name string) T {
	obj := r.make()
	obj.SetName(scope + "-" + name)
	obj.SetLabels(map[string]string{scopeLabel: scope})
	if !r.clusterScoped {
		obj.SetNamespace(scope)
	}
	return obj
}

// change changes an object; each number leads to another object.
func (r resource[T, L]) change(obj T, n int) {
	if r.number != nil {
		*r.number(obj) = int32(n)
		return
	}
	obj.SetAnnotations(map[string]string{"changed": fmt.Sprint(n)})
}

// fresh lists the scope's objects from etcd, not from the server's caches.
func (r resource[T, L]) fresh(ctx context.Context, t *testing.T, c versioned.Interface, scope string) []T {
	t.Helper()
	list, err := r.reader(c, "").List(ctx, metav1.ListOptions{LabelSelector: scopeLabel + "=" + scope})
	if err != nil {
		t.Fatal(err)
	}
	return items[T](t, list)
}

func items[T object](t *testing.T, list runtime.Object) []T {
	t.Helper()
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed
}

// equal compares two lists of the same objects.
func equal[T object](t *testing.T, what string, got, want []T) {
	t.Helper()
	for _, difference := range record.Differences(got, want) {
		t.Errorf("%s: %s", what, difference)
	}
}
