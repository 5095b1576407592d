package sharding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// cached is a group whose members have informers of a server's config maps, of which each namespace has one.
type cached struct {
	*model
	maps *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	// informers are those of the replicas, in order.
	informers []cache.SharedInformer
	// told is how often the handler of each replica was called for each namespace.
	mu   sync.Mutex
	told []map[string]int
}

func withCaches(t *testing.T, test func(*testing.T, *cached)) {
	calmly(t, func(t *testing.T, m *model) {
		c := &cached{model: m, maps: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
		c.maps.Sharding(true, true)
		for _, name := range m.names {
			c.maps.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "oven"}})
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		m.configure = func(config *Config) {
			i, heard := informer.NewShared[*corev1.ConfigMap](
				func() informer.ResourceClient[*corev1.ConfigMapList] { return c.maps },
				informer.Options{Client: c.maps}), map[string]int{}
			_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				c.mu.Lock()
				defer c.mu.Unlock()
				heard[obj.(*corev1.ConfigMap).Namespace]++
			}})
			if err != nil {
				t.Error(err)
			}
			c.informers, c.told = append(c.informers, i), append(c.told, heard)
			config.elect = config.byLeaderElection
			config.Hashes, config.Informers = nil, []cache.SharedInformer{i}
			running.Go(func() {
				bubble.Pass(time.Millisecond) // the member makes it an informer of a part first
				i.RunWithContext(ctx)
			})
		}
		test(t, c)
		cancel()
		running.Wait()
	})
}

// check checks that each replica has the objects of its ranges, and no others, and may work on them.
func (c *cached) check(what string) {
	c.t.Helper()
	c.settledCaches()
	for n, r := range c.replicas {
		if r.isGone() {
			continue
		}
		var have []string
		for _, o := range c.informers[n].GetStore().List() {
			have = append(have, o.(*corev1.ConfigMap).Namespace)
		}
		var want []string
		for _, name := range c.names {
			if _, owns := r.Owns(name); owns {
				want = append(want, name)
			}
			if works := r.works(name); works != r.Accepts(name) {
				c.t.Errorf("%s: member %d accepts work on %s: %t; it may begin: %t", what, n, name, !works, works)
			}
		}
		if slices.Sort(have); !slices.Equal(have, want) {
			c.t.Errorf("%s: member %d has %v, and owns %v", what, n, have, want)
		}
	}
}

// settledCaches lets time pass until the load is balanced and the informers' watches are joined.
func (c *cached) settledCaches() {
	for range 4 {
		bubble.Advance(30 * time.Second)
		c.maps.Bookmark()
	}
	c.owners()
}

func isList(r runtimetest.Request) bool {
	return r.Verb == "LIST" || r.Options.SendInitialEvents != nil && *r.Options.SendInitialEvents
}

// TestCaches: each member's informer has the objects of its ranges while members join, leave and crash. Only
// ranges that move are listed, and each only once.
func TestCaches(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		first := c.join()
		c.check("one")
		c.join()
		c.join()
		c.check("three")
		c.maps.ForgetRequests()
		first.leave()
		<-first.ended
		c.check("one has left")
		var listed shard.Ranges
		for _, r := range c.maps.Requests() {
			if isList(r) {
				_, ranges, err := shard.ParseSelector(r.Options.ShardSelector)
				if err != nil {
					t.Error(err)
				}
				if again := listed.And(ranges); len(again) > 0 {
					t.Errorf("%s were listed twice", again)
				}
				listed = listed.Plus(ranges)
			}
		}
		if listed == nil || listed.Equal(shard.All()) {
			t.Errorf("%s were listed", listed)
		}
		c.replicas[1].crash()
		c.check("one is left")
	})
}

// TestCachesInAnOutage: while Leases can't be renewed no work begins, and waiting work isn't lost. Once they
// can be renewed again it begins, and nothing is listed.
func TestCachesInAnOutage(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		c.join()
		c.join()
		c.check("at first")
		r := c.replicas[0]
		at := slices.IndexFunc(c.names, r.Accepts)
		name := c.names[at]
		c.maps.ForgetRequests()
		c.server.setDown(true)
		bubble.Advance(time.Minute)
		if r.works(name) || !r.Accepts(name) {
			t.Errorf("work may begin: %t, work is accepted: %t", r.works(name), r.Accepts(name))
		}
		worked := make(chan error, 1)
		go func() {
			worked <- r.Do(t.Context(), name, func(context.Context, Owned) error { return nil })
		}()
		bubble.Advance(time.Minute)
		if s := r.Status(); len(worked) > 0 || s.Waiting == 0 {
			t.Errorf("%d began, %+v", len(worked), s)
		}
		c.server.setDown(false)
		bubble.Advance(30 * time.Second)
		if err := <-worked; err != nil {
			t.Error(err)
		}
		for _, request := range c.maps.Requests() {
			t.Errorf("%+v after an outage", request)
		}
		c.check("after the outage")
	})
}

// TestCachesOfANewTable: after the table was deleted, others may have owned what a member owns by the new
// one. So everything is listed anew, and handlers are called again.
func TestCachesOfANewTable(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		r := c.join()
		c.check("at first")
		before := maps.Clone(c.told[0])
		c.server.remove("bakers")
		bubble.Advance(time.Second)
		if r.Accepts(c.names[0]) {
			t.Error("work is accepted without a table")
		}
		c.check("after the deletion")
		for name, times := range c.told[0] {
			if times != before[name]+1 {
				t.Errorf("%s: %d calls of the handler, %d before the deletion", name, times, before[name])
			}
		}
	})
}

// TestWorkWaitsForObjects: no work begins in a range before its objects are in the informer.
func TestWorkWaitsForObjects(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		first := c.join()
		c.check("at first")
		answer := make(chan struct{})
		c.maps.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
			select {
			case <-answer:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		second := c.join()
		bubble.Advance(2 * time.Minute)
		at := slices.IndexFunc(c.names, second.Accepts)
		if at < 0 {
			t.Fatal("the second owns nothing")
		}
		name := c.names[at]
		var began bool
		var err error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			err = second.Do(t.Context(), name, func(context.Context, Owned) error {
				began = true
				return nil
			})
		}()
		bubble.Advance(time.Minute)
		if began {
			t.Error("work began before the objects were there")
		}
		if first.Accepts(name) {
			t.Error("both members accept work on one namespace")
		}
		close(answer)
		<-ended
		if err != nil || !began {
			t.Errorf("work began: %t, error %v", began, err)
		}
		c.maps.OnRequest(nil)
		c.check("at the end")
	})
}

// TestKept: keptBy never returns a hash that somebody else owned in between, and always returns one that the
// member kept in the next version.
func TestKept(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		members := []string{"a", "b", "c", ""}
		someone := func() string { return members[random.IntN(len(members))] }
		current := newTable(shard.ByNamespace, []string{"bakeries"})
		history := []*version{{current, leaseOf("1")}}
		for range 40 {
			switch random.IntN(6) {
			case 0:
				current, _ = current.withNewTokens(members[random.IntN(3)])
			case 1:
				current = current.withFreed(members[random.IntN(3)], nil)
			case 2:
				current = current.nextGeneration().merged()
			default:
				span := current.rangeAt(random.IntN(len(current.Ranges)))
				if random.IntN(2) == 0 {
					span.First += (span.Last - span.First) / 2
				}
				to := someone()
				if current.Ranges[current.indexOf(span.First)].Owner == to {
					continue
				}
				current = current.reassign(span, to, 0)
			}
			history = append(history, &version{current, leaseOf(fmt.Sprint(current.Generation))})
		}
		for range 200 {
			from := random.IntN(len(history) - 1)
			to := from + 1 + random.IntN(min(5, len(history)-from-1))
			owner := members[random.IntN(3)]
			kept := history[from].rangesOf(owner)
			for _, v := range history[from+1 : to+1] {
				kept = kept.And(v.rangesOf(owner))
			}
			got := history[to].keptBy(owner, history[from])
			if !kept.Covers(got) || to == from+1 && !got.Equal(kept) {
				t.Fatalf("seed %d: %s has kept %s from %v to %v, keptBy returns %s",
					seed, owner, kept, history[from], history[to], got)
			}
		}
		other := *history[len(history)-1]
		other.lease = leaseOf("1000")
		other.lease.UID = types.UID("another")
		if kept := other.keptBy("a", history[len(history)-1]); kept != nil {
			t.Fatalf("seed %d: %s are kept in another table", seed, kept)
		}
	}
}

// TestRefusedSelector: if the server refuses the selector, Do returns its error and doesn't wait forever.
func TestRefusedSelector(t *testing.T) {
	withCaches(t, func(t *testing.T, c *cached) {
		refusal := apierrors.NewInternalError(errors.New("invalid shard selector: it is too new"))
		refusal.ErrStatus.Message = "invalid shard selector: it is too new"
		c.maps.OnRequest(func(context.Context, runtimetest.Request) error { return refusal })
		r := c.join()
		bubble.Advance(2 * time.Minute)
		err := r.Do(t.Context(), c.names[0], func(context.Context, Owned) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "it is too new") {
			t.Errorf("error %v", err)
		}
		c.maps.OnRequest(nil)
	})
}
