package bakery

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2/ktesting"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	typedshopv1 "github.com/kubewright/kubewright/examples/generated/clientset/versioned/typed/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	shopinformers "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
	"github.com/kubewright/kubewright/runtime/informer"
)

var bakeries = shopv1.SchemeGroupVersion.WithResource("bakeries")

func newBakery(name, market string, bakers int32) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "town", Generation: 1},
		Spec:       shopv1.BakerySpec{Bread: "rye", Market: market, Bakers: bakers},
	}
}

func newMarket(name string, loaves int32) *shopv1.Market {
	return &shopv1.Market{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: shopv1.MarketSpec{LoavesPerBaker: loaves}}
}

// open returns the reason of the condition Open.
func open(b *shopv1.Bakery) string {
	if condition := meta.FindStatusCondition(b.Status.Conditions, shopv1.ConditionOpen); condition != nil {
		return condition.Reason
	}
	return ""
}

// newController returns a controller whose informers are not started. Tests fill the caches.
func newController(
	t *testing.T, client versioned.Interface,
) (*Controller, externalversions.SharedInformerFactory) {
	t.Helper()
	_, ctx := ktesting.NewTestContext(t)
	factory := externalversions.NewSharedInformerFactory(client, 0)
	c, err := New(ctx, client, factory.Shop().V1())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Queue.ShutDown)
	return c, factory
}

// fill puts objects into the cache of an informer.
func fill(t *testing.T, informer cache.SharedIndexInformer, objects ...any) {
	t.Helper()
	for _, object := range objects {
		if err := informer.GetIndexer().Add(object); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailureIsRetried checks that a bakery that fails is tried again, after a longer delay each time.
func TestFailureIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		bakery := newBakery("b", "m", 2)
		name := cache.MetaObjectToName(bakery)
		client := fake.NewSimpleClientset(bakery)
		c, factory := newController(t, client)
		var retries []int
		client.PrependReactor("update", "bakeries", func(clienttesting.Action) (bool, runtime.Object, error) {
			retries = append(retries, c.Queue.NumRequeues(name))
			return len(retries) < 3, nil, errors.New("not now")
		})
		factory.StartWithContext(ctx)
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, 1) }()

		<-time.After(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if want := []int{0, 1, 2}; !reflect.DeepEqual(retries, want) {
			t.Errorf("retries before each round: %v, want %v", retries, want)
		}
		if got := c.Queue.NumRequeues(name); got != 0 {
			t.Errorf("%d retries noted after success", got)
		}
		factory.Shutdown()
	})
}

// TestMarketQueuesItsBakeries checks that a change of a market queues its bakeries and no others.
func TestMarketQueuesItsBakeries(t *testing.T) {
	c, factory := newController(t, fake.NewSimpleClientset())
	fill(t, factory.Shop().V1().Bakeries().Informer(), newBakery("a", "m", 1), newBakery("b", "other", 1),
		newBakery("c", "m", 1))
	c.marketHandler().OnUpdate(newMarket("m", 1), newMarket("m", 2))
	got := map[string]bool{}
	for range c.Queue.Len() {
		name, _ := c.Queue.Get()
		got[name.Name] = true
	}
	if want := map[string]bool{"a": true, "c": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("queued %v, want %v", got, want)
	}
}

// counting wraps a clientset and counts updates of statuses.
type counting struct {
	versioned.Interface
	typedshopv1.ShopV1Interface
	typedshopv1.BakeryInterface
	updates *int
}

func (c counting) ShopV1() typedshopv1.ShopV1Interface { return c }

func (c counting) Bakeries(namespace string) typedshopv1.BakeryInterface {
	c.BakeryInterface = c.ShopV1Interface.Bakeries(namespace)
	return c
}

func (c counting) UpdateStatus(
	ctx context.Context, b *shopv1.Bakery, opts metav1.UpdateOptions,
) (*shopv1.Bakery, error) {
	*c.updates++
	return c.BakeryInterface.UpdateStatus(ctx, b, opts)
}

// TestOwnInformerAndClient checks that the factory accepts an informer that it didn't make, and the
// controller a wrapped client.
func TestOwnInformerAndClient(t *testing.T) {
	bakery := newBakery("b", "m", 2)
	inner := fake.NewSimpleClientset(bakery)
	updates := 0
	client := counting{Interface: inner, ShopV1Interface: inner.ShopV1(), updates: &updates}

	factory := externalversions.NewSharedInformerFactory(client, time.Minute)
	own := factory.InformerFor(&shopv1.Bakery{},
		func(c versioned.Interface, resync time.Duration) cache.SharedIndexInformer {
			if resync != time.Minute {
				t.Errorf("resync %v", resync)
			}
			return shopinformers.NewFilteredBakeryInformer(c, "town", resync,
				cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
				func(opts *metav1.ListOptions) {
					opts.LabelSelector = "open"
				})
		})
	if again := factory.InformerFor(&shopv1.Bakery{}, nil); again != own {
		t.Error("another informer for the same type")
	}
	_, ctx := ktesting.NewTestContext(t)
	c, err := New(ctx, client, factory.Shop().V1())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Queue.ShutDown()
	fill(t, own, bakery)
	if err := c.reconcile(t.Context(), cache.MetaObjectToName(bakery)); err != nil {
		t.Fatal(err)
	}
	if updates != 1 {
		t.Errorf("%d updates through the wrapped client, want 1", updates)
	}
}

// TestRun runs the whole controller on a fake clientset, from objects to statuses.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, ctx := ktesting.NewTestContext(t)
		ctx, cancel := context.WithCancel(ctx)
		client := fake.NewSimpleClientset(newBakery("b", "m", 2))
		factory := externalversions.NewSharedInformerFactory(client, 0)
		c, err := New(ctx, client, factory.Shop().V1())
		if err != nil {
			t.Fatal(err)
		}
		factory.StartWithContext(ctx)
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, 2) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			factory.Shutdown()
		}()
		api := client.ShopV1()
		expect := func(when, reason string, loaves int32) {
			t.Helper()
			<-time.After(time.Minute)
			b, err := api.Bakeries("town").Get(ctx, "b", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if open(b) != reason || b.Status.LoavesPerDay != loaves {
				t.Errorf("%s: %s, %d loaves; want %s, %d", when, open(b), b.Status.LoavesPerDay,
					reason, loaves)
			}
		}

		expect("without a market", shopv1.ReasonNoMarket, 0)
		if _, err := api.Markets().Create(ctx, newMarket("m", 10), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("with a market", shopv1.ReasonBaking, 20)
		if _, err := api.Markets().Update(ctx, newMarket("m", 15), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("with a better market", shopv1.ReasonBaking, 30)
		idle := newBakery("b", "m", 0)
		idle.Generation = 2
		if _, err := api.Bakeries("town").Update(ctx, idle, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("without bakers", shopv1.ReasonNoBakers, 0)
		if err := api.Markets().Delete(ctx, "m", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		expect("without a market again", shopv1.ReasonNoMarket, 0)
	})
}

// TestRunStopsBeforeSync checks that Run fails if it is stopped before the caches are filled, and that the
// error lists the informers that have not synced.
func TestRunStopsBeforeSync(t *testing.T) {
	c, _ := newController(t, fake.NewSimpleClientset())
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	err := c.Run(ctx, 1)
	if missing := new(informer.NotSyncedError); !errors.Is(err, stopped) || !errors.As(err, &missing) ||
		len(missing.Informers) != 2 {
		t.Errorf("error %v, want two informers and %v", err, stopped)
	}
}
