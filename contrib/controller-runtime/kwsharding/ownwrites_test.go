package kwsharding_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// TestShardOwnWrites runs sharded controllers that write on each of several reconciles in a row, on caches
// that lag, while ranges move. A reconcile never begins on a cache without what its replica has written for
// the object. Without kwctrl.OwnWrites, some do.
func TestShardOwnWrites(t *testing.T) {
	t.Run("by namespace", testShardOwnWrites[reconcile.Request])
	t.Run("by UID", testShardOwnWrites[kwsharding.UIDRequest])
}

func testShardOwnWrites[T kwsharding.Request](t *testing.T) {
	for name, tracks := range map[string]bool{"with": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			inBakery(t, func(t *testing.T, b *bakery[T]) {
				b.ownWrites, b.maps.Lag = tracks, 500*time.Millisecond
				b.fill(40, 40)
				stale, runs := b.writeInRow(5)
				first := b.join("first")
				b.join("second")
				b.check("at first")
				b.join("third")
				b.check("a third one has joined")
				for _, s := range first.caches.Statuses() { // None if the caches aren't ours.
					if len(s.Handlers) != 1 || s.Handlers[0].Name != "first" {
						t.Errorf("the handlers of %s aren't named after the controller: %+v", s.Name, s.Handlers)
					}
				}
				for i := range 40 {
					b.want(fmt.Sprintf("town-%d", i), fmt.Sprintf("bread-%d", i), "rye")
				}
				b.leave(first)
				b.check("the first one has left")
				if n := stale(); (n == 0) != tracks {
					t.Errorf("%d of %d reconciles are stale", n, runs())
				}
			})
		})
	}
}

// writeInRow makes each reconcile write, and add its request again, up to some times for each object and
// replica. stale returns how many began on a cache without what their replica had written.
func (b *bakery[T]) writeInRow(times int) (stale, runs func() int) {
	type object struct {
		by  *replica[T]
		key client.ObjectKey
	}
	var mu sync.Mutex
	last, writes := map[object]int{}, map[object]int{}
	staleRuns, allRuns := 0, 0
	b.setDuring(func(ctx context.Context, r *replica[T], request T) error {
		of := object{r, keyOf(request)}
		var cached corev1.ConfigMap
		if err := r.GetClient().Get(ctx, of.key, &cached); err != nil {
			return client.IgnoreNotFound(err)
		}
		version, _ := strconv.Atoi(cached.ResourceVersion)
		mu.Lock()
		if allRuns++; version < last[of] {
			staleRuns++
		}
		again := writes[of] < times
		writes[of]++
		mu.Unlock()
		if !again {
			return nil
		}
		cached.Data["baked"] = cached.Data["wanted"]
		cached.Data["times"] += "I"
		err := r.GetClient().Update(ctx, &cached)
		if err == nil {
			version, _ = strconv.Atoi(cached.ResourceVersion)
			mu.Lock()
			last[of] = version
			mu.Unlock()
		}
		r.queue.Add(request)
		return err
	})
	count := func(n *int) func() int {
		return func() int { mu.Lock(); defer mu.Unlock(); return *n }
	}
	return count(&staleRuns), count(&allRuns)
}

// TestShardOwnWritesOrder checks that the order the other way round is refused: the queue of a sharded
// controller isn't kwctrl's any more. The order of the transports doesn't matter to the checks.
func TestShardOwnWritesOrder(t *testing.T) {
	for name, fencedFirst := range map[string]bool{"the fence last": false, "the fence first": true} {
		t.Run(name, func(t *testing.T) {
			tracker := &ownwrites.Tracker{}
			wrappers := []func(http.RoundTripper) http.RoundTripper{tracker.Transport, sharding.FencingTransport}
			if fencedFirst {
				wrappers[0], wrappers[1] = wrappers[1], wrappers[0]
			}
			config := &rest.Config{Host: "http://bakery", Transport: configmaps.New()}
			for _, w := range wrappers {
				config.Wrap(w)
			}
			caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
			options := managerOptions()
			options.NewCache = caches.NewCache
			mgr, err := manager.New(config, options)
			if err != nil {
				t.Fatal(err)
			}
			group := shardingtest.NewGroup()
			shards, err := kwsharding.Shard[reconcile.Request](
				mgr, group.Config(sharding.Config{Identity: "anna"}), &corev1.ConfigMap{})
			if err != nil {
				t.Fatal(err)
			}
			nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			})
			o := shards.Options(nothing, controller.Options{})
			_, _, err = kwctrl.OwnWrites(caches, o.Reconciler, o)
			if err == nil || !strings.Contains(err.Error(), "a sharded queue is made of the options") {
				t.Errorf("OwnWrites takes a sharded queue: %v", err)
			}
		})
	}
}
