package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/shard"
)

const (
	market = "harbour"
	bakery = "bakery" // the name of the one in each namespace
	// oven is how long a replica takes to bake an order, appetite the average pause of a customer before the
	// next order.
	oven     = 400 * time.Millisecond
	appetite = 1500 * time.Millisecond
)

// namespaces are sorted by their hashes, so that those of a range are next to each other.
var namespaces = func() (names []string) {
	for _, first := range []string{"ash", "birch", "clear", "deep", "elm", "fair"} {
		for _, second := range []string{"bridge", "field", "ford", "ham", "haven", "mouth", "ton", "wood"} {
			names = append(names, first+second)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(shard.Hash(a), shard.Hash(b)) })
	return names
}()

// customers order something in each namespace, wait until it is baked, and order again. An order is a new or
// changed spec of the namespace's bakery. It is baked when the status reports it.
type customers struct {
	client  versioned.Interface
	witness *witness
	leave   context.CancelFunc // ends further orders
	goHome  context.CancelFunc // ends the wait for orders, too
	all     sync.WaitGroup

	mu      sync.Mutex
	orders  int
	waiting map[string]time.Time // since when, by namespace
	longest wait                 // since the last call of longestWait
	failed  error
}

type wait struct {
	took      time.Duration
	namespace string
}

// welcome opens a market, and lets a customer in each namespace begin to order.
func welcome(ctx context.Context, client versioned.Interface, witness *witness) (*customers, error) {
	c := &customers{client: client, witness: witness, waiting: map[string]time.Time{}}
	_, err := client.ShopV1().Markets().Create(ctx, &shopv1.Market{
		ObjectMeta: metav1.ObjectMeta{Name: market}, Spec: shopv1.MarketSpec{LoavesPerBaker: 10},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	ctx, c.goHome = context.WithCancel(ctx)
	ordering, leave := context.WithCancel(ctx)
	c.leave = leave
	for _, namespace := range namespaces {
		c.all.Go(func() {
			if err := c.order(ctx, ordering, namespace); err != nil && ctx.Err() == nil {
				c.mu.Lock()
				c.failed = errors.Join(c.failed, fmt.Errorf("the customer in %s: %w", namespace, err))
				c.mu.Unlock()
			}
		})
	}
	return c, nil
}

// order orders again and again, until a context ends, and waits for the last order.
func (c *customers) order(ctx, ordering context.Context, namespace string) error {
	for loaf := 1; ; loaf++ {
		select {
		case <-time.After(rand.N(2 * appetite)):
		case <-ordering.Done():
			return nil
		}
		c.begin(namespace)
		ordered, err := c.place(ctx, namespace, loaf)
		if err != nil {
			return err
		}
		if err := c.witness.await(ctx, order{namespace, ordered.Generation}); err != nil {
			return err
		}
		c.end(namespace)
	}
}

// place places an order. The first one founds the bakery.
func (c *customers) place(ctx context.Context, namespace string, loaf int) (*shopv1.Bakery, error) {
	bakeries := c.client.ShopV1().Bakeries(namespace)
	if loaf == 1 {
		return bakeries.Create(ctx, &shopv1.Bakery{
			ObjectMeta: metav1.ObjectMeta{Name: bakery},
			Spec:       shopv1.BakerySpec{Bread: "rye", Market: market, Bakers: 1},
		}, metav1.CreateOptions{})
	}
	patch := fmt.Appendf(nil, `{"spec":{"bakers":%d}}`, loaf)
	return bakeries.Patch(ctx, bakery, types.MergePatchType, patch, metav1.PatchOptions{})
}

func (c *customers) begin(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders++
	c.waiting[namespace] = time.Now()
}

func (c *customers) end(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Since(c.waiting[namespace])
	delete(c.waiting, namespace)
	if took > c.longest.took {
		c.longest = wait{took, namespace}
	}
}

// waits returns how long each namespace with an open order has been waiting.
func (c *customers) waits() map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	waits := map[string]time.Duration{}
	for namespace, since := range c.waiting {
		waits[namespace] = time.Since(since)
	}
	return waits
}

// longestWait returns the longest wait that has ended since the last call.
func (c *customers) longestWait() wait {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest := c.longest
	c.longest = wait{}
	return longest
}

// err returns the errors of the customers.
func (c *customers) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// finish ends further orders, waits for the open ones, and returns the number of all orders.
func (c *customers) finish() (orders int, err error) {
	c.leave()
	c.all.Wait()
	return c.orders, c.err()
}
