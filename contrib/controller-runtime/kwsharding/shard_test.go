package kwsharding_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
)

// takeOver is how long it takes until free ranges are assigned, even if the balancer has just left. It is
// less than LeaseDuration.
const takeOver = 10 * time.Second

// TestShard lets managers share 200 objects while these change, a second manager starts and the first one
// stops. No object is ever reconciled by two managers at a time, and each is up to date in the end.
func TestShard(t *testing.T) {
	t.Run("by namespace", func(t *testing.T) { inBakery(t, testShard[reconcile.Request]) })
	t.Run("by UID", func(t *testing.T) { inBakery(t, testShard[kwsharding.UIDRequest]) })
	t.Run("server that sends all", func(t *testing.T) {
		inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
			b.maps.Sharding(false, false)
			testShard(t, b)
		})
	})
}

func testShard[T kwsharding.Request](t *testing.T, b *bakery[T]) {
	b.fill(200, 40)
	first := b.join("first")
	b.check("one")
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		random := rand.New(rand.NewPCG(1, 0))
		for n := 2; ; n++ {
			i := random.IntN(200)
			b.want(fmt.Sprint("town-", i%40), fmt.Sprint("bread-", i), strconv.Itoa(n))
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	second := b.join("second")
	b.settle()
	before, _ := b.doneBy(first)
	b.settle()
	if after, _ := b.doneBy(first); after == before {
		t.Error("the first manager reconciles nothing any more")
	}
	if _, requests := b.doneBy(second); requests < 50 || requests > 150 {
		t.Errorf("the second has reconciled %d objects", requests)
	}
	close(stop)
	writer.Wait()
	b.check("two")
	b.leave(first)
	for _, name := range b.leases.names() {
		if strings.Contains(name, "first") {
			t.Errorf("the lease %s is still there", name)
		}
	}
	before, _ = b.doneBy(second)
	bubble.Advance(takeOver)
	if after, _ := b.doneBy(second); after == before {
		t.Error("the first manager's objects aren't reconciled soon")
	}
	b.check("one is left")
	if _, requests := b.doneBy(second); requests != 200 {
		t.Errorf("the second has reconciled %d objects", requests)
	}
}

// TestShardRecreated: an object that is deleted and created anew has another UID, and is reconciled by the
// owner of that.
func TestShardRecreated(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[kwsharding.UIDRequest]) {
		b.fill(40, 1)
		b.join("first")
		b.join("second")
		b.check("at first")
		moved := 0
		for range 10 {
			old, _ := b.maps.Get("town-0", "bread-0")
			b.maps.Delete(old.Namespace, old.Name)
			b.maps.Create(bread(old.Namespace, old.Name))
			created, _ := b.maps.Get("town-0", "bread-0")
			owner, _ := b.owner(string(created.UID))
			if before, _ := b.owner(string(old.UID)); before != owner {
				moved++
			}
			b.check("created anew")
			request := kwsharding.UIDRequest{NamespacedName: client.ObjectKeyFromObject(created), UID: created.UID}
			if b.done[owner][fmt.Sprint(request)] == 0 {
				t.Errorf("%s hasn't reconciled %v", owner.name, request)
			}
		}
		if moved == 0 {
			t.Error("the object has never had another owner")
		}
	})
}

// TestShardDropsForeignKeys adds a key of another member to the queue in every way. It is neither reconciled
// nor tried again, but counted.
func TestShardDropsForeignKeys(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.fill(40, 40)
		b.join("first")
		b.join("second")
		b.check("at first")
		_, other := b.owner("town-0")
		foreign := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "town-0", Name: "bread-0"}}
		before := b.done[other][fmt.Sprint(foreign)]
		dropped := droppedItems(t, other.name)
		queue := other.queue.(priorityqueue.PriorityQueue[reconcile.Request])
		queue.Add(foreign)
		queue.AddAfter(foreign, time.Second)
		queue.AddRateLimited(foreign)
		queue.AddWithOpts(priorityqueue.AddOpts{}, foreign, foreign)
		queue.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, foreign)
		b.settle()
		if after := b.done[other][fmt.Sprint(foreign)]; after != before {
			t.Errorf("%s reconciled the key %d times", other.name, after-before)
		}
		if n := queue.NumRequeues(foreign); n != 0 {
			t.Errorf("%d failures of the key are remembered", n)
		}
		if got := droppedItems(t, other.name) - dropped; got != 6 {
			t.Errorf("%v dropped items are counted", got)
		}
	})
}

// TestShardDropsWhatHasMoved adds keys that a member owns to its queue with a delay. Before that has passed,
// some of them move to another member. The first one drops these, and reconciles the others.
func TestShardDropsWhatHasMoved(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.fill(40, 40)
		first := b.join("first")
		b.check("at first")
		const later = 10 * time.Minute
		for i := range 40 {
			first.queue.AddAfter(reconcile.Request{
				NamespacedName: client.ObjectKey{Namespace: fmt.Sprint("town-", i), Name: fmt.Sprint("bread-", i)},
			}, later)
		}
		dropped := droppedItems(t, first.name)
		second := b.join("second")
		b.check("two")
		before, _ := b.doneBy(first)
		bubble.Advance(later)
		after, _ := b.doneBy(first)
		moved := 0
		for i := range 40 {
			if second.Accepts(fmt.Sprint("town-", i)) {
				moved++
			}
		}
		got, done := int(droppedItems(t, first.name)-dropped), after-before
		if moved == 0 || got != moved || done != 40-moved {
			t.Errorf("%d keys are dropped, %d reconciled; %d have moved", got, done, moved)
		}
	})
}

// metricsOf returns the metrics that have a label with that value, by name: sums of counters, 0 for others.
func metricsOf(t *testing.T, label, value string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			for _, l := range metric.Label {
				if l.GetName() == label && l.GetValue() == value {
					sums[family.GetName()] += metric.Counter.GetValue()
				}
			}
		}
	}
	return sums
}

// droppedItems is the metric of a queue, of all members.
func droppedItems(t *testing.T, queue string) float64 {
	t.Helper()
	return metricsOf(t, "name", queue)["sharding_dropped_items_total"]
}

// reconcileErrors is controller-runtime's metric of a controller.
func reconcileErrors(t *testing.T, controller string) float64 {
	t.Helper()
	return metricsOf(t, "controller", controller)["controller_runtime_reconcile_errors_total"]
}

// memberMetrics returns how many kinds of metrics there are of a member.
func memberMetrics(t *testing.T, identity string) int {
	t.Helper()
	return len(metricsOf(t, "member", identity))
}

// TestShardInAnOutage: while the Leases can't be renewed, no write of a reconcile passes, and no reconcile
// begins. Interrupted reconciles, and changes, are reconciled afterwards, without errors, and nothing is
// listed.
func TestShardInAnOutage(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.fill(40, 40)
		r := b.join("lonely")
		b.check("at first")
		failures := reconcileErrors(t, r.name)
		b.maps.ForgetRequests()
		goOn, began := make(chan struct{}), make(chan struct{})
		var refused error
		var cause error
		b.setDuring(func(ctx context.Context, r *replica[reconcile.Request], request reconcile.Request) error {
			b.setDuring(nil)
			close(began)
			<-goOn
			cause = context.Cause(ctx)
			refused = b.bake(context.WithoutCancel(ctx), r, request.NamespacedName)
			return ctx.Err()
		})
		b.want("town-0", "bread-0", "cake")
		<-began
		b.leases.setDown(true)
		bubble.Advance(time.Minute)
		close(goOn)
		b.want("town-1", "bread-1", "bun")
		before, _ := b.doneBy(r)
		bubble.Advance(time.Minute)
		if after, _ := b.doneBy(r); after != before {
			t.Errorf("%d reconciles began in the outage", after-before)
		}
		if !errors.Is(refused, sharding.ErrNotOwned) || !errors.Is(cause, sharding.ErrNotOwned) {
			t.Errorf("the write: %v, the context's end: %v", refused, cause)
		}
		b.leases.setDown(false)
		b.check("after the outage")
		for _, request := range b.maps.Requests() {
			if request.Verb == "LIST" {
				t.Errorf("after an outage: %v", request)
			}
		}
		if got := reconcileErrors(t, r.name) - failures; got != 0 {
			t.Errorf("%v reconciles failed", got)
		}
	})
}

// TestShardStops: a manager that stops keeps its ranges and its cache until its reconciles have ended.
func TestShardStops(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		b.fill(40, 40)
		b.join("first")
		b.join("second")
		b.check("at first")
		owner, other := b.owner("town-0")
		goOn, began := make(chan struct{}), make(chan struct{})
		b.setDuring(func(ctx context.Context, r *replica[reconcile.Request], request reconcile.Request) error {
			b.setDuring(nil)
			close(began)
			<-goOn
			if ctx.Err() == nil {
				t.Error("the context goes on though the manager stops")
			}
			// The object changes once more, and the cache is still updated.
			b.want("town-0", "bread-0", "bun")
			bubble.Pass(time.Second)
			return b.bake(context.WithoutCancel(ctx), r, request.NamespacedName)
		})
		b.want("town-0", "bread-0", "cake")
		<-began
		owner.stop()
		bubble.Advance(5 * time.Second)
		if _, ok := owner.Owns("town-0"); !ok || other.Accepts("town-0") {
			t.Errorf("the owner still owns what it works on: %t; the other does: %t", ok, other.Accepts("town-0"))
		}
		before, _ := b.doneBy(other)
		close(goOn)
		bubble.Advance(takeOver)
		if object, _ := b.maps.Get("town-0", "bread-0"); object.Data["baked"] != "bun" {
			t.Errorf("the last write of the reconcile is %q", object.Data["baked"])
		}
		if after, _ := b.doneBy(other); after == before {
			t.Error("the other manager doesn't take over")
		}
		b.leave(owner)
		if owned := memberMetrics(t, owner.Identity()); owned != 0 {
			t.Errorf("there are still %d metrics of the member that has left", owned)
		}
		if owned := memberMetrics(t, other.Identity()); owned == 0 {
			t.Error("there are no metrics of the member that still runs")
		}
		b.check("one is left")
	})
}

// TestShardRefuses: if something is missing, Shard returns an error that says what to do.
func TestShardRefuses(t *testing.T) {
	for want, change := range map[string]func(*rest.Config, *manager.Options, *sharding.Config){
		"call config.Wrap(sharding.FencingTransport)": func(
			c *rest.Config, _ *manager.Options, _ *sharding.Config,
		) {
			c.WrapTransport = nil
		},
		"set the manager's NewCache": func(_ *rest.Config, o *manager.Options, _ *sharding.Config) {
			o.NewCache = nil
		},
		"leave the namespaces of the manager's": func(_ *rest.Config, o *manager.Options, _ *sharding.Config) {
			o.Cache.DefaultNamespaces = map[string]cache.Config{"a": {}, "b": {}}
		},
		"leave Field, Kinds and Informers": func(_ *rest.Config, _ *manager.Options, s *sharding.Config) {
			s.Field = shard.ByUID
		},
		"Config.Leases is nil": func(_ *rest.Config, _ *manager.Options, s *sharding.Config) {
			s.Leases = nil
		},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := &rest.Config{Host: "http://bakery", Transport: configmaps.New(), BearerToken: "token"}
				config.Wrap(sharding.FencingTransport)
				options := managerOptions()
				shards := sharding.Config{Leases: newLeases(), Group: "bakers", Identity: "baker"}
				change(config, &options, &shards)
				mgr, err := manager.New(config, options)
				if err != nil {
					t.Fatal(err)
				}
				_, err = kwsharding.Shard[reconcile.Request](mgr, shards, &corev1.ConfigMap{})
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v", err)
				}
				// controller-runtime's informers of several namespaces have goroutines, which must end.
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- mgr.Start(ctx) }()
				bubble.Advance(time.Second)
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestShardNothing: Shard without objects is an error.
func TestShardNothing(t *testing.T) {
	_, err := kwsharding.Shard[reconcile.Request](nil, sharding.Config{})
	if err == nil || !strings.Contains(err.Error(), "pass Shard an object of each kind") {
		t.Errorf("the error is %v", err)
	}
}

// TestShardOptions: every member runs the controller. A missing reconciler is controller-runtime's own error.
func TestShardOptions(t *testing.T) {
	inBakery(t, func(t *testing.T, b *bakery[reconcile.Request]) {
		r := b.join("baker")
		b.settle() // controller-runtime spins if it is stopped while it starts
		options := r.Options(nil, controller.Options{})
		if *options.NeedLeaderElection {
			t.Error("the controller waits for an election")
		}
		_, err := controller.New("none", r.Manager, options)
		if err == nil || !strings.Contains(err.Error(), "Reconciler") {
			t.Errorf("error %v", err)
		}
	})
}
