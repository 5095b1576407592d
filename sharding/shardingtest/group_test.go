package shardingtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // leader elections log much
	runtimetest.WithoutErrorBackoff()
	goleak.VerifyTestMain(m)
}

const (
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// towns are the namespaces.
var towns = func() (names []string) {
	for n := range 30 {
		names = append(names, fmt.Sprint("town-", n))
	}
	return names
}()

// replica is a member that runs.
type replica struct {
	*sharding.Member
	stop  context.CancelFunc
	ended chan error
	cut   bool
}

// test is a group, and who should own what by the moves.
type test struct {
	*testing.T
	group  *shardingtest.Group
	random *rand.Rand
	// replicas are those that run.
	replicas []*replica
	owners   map[string]*replica
	// worked and tokens are the last owner that was seen of each town, and its token.
	worked map[string]*replica
	tokens map[string]int64
}

// inBubble runs a test of a group. Members that still run at the end must leave without errors.
func inBubble(t *testing.T, seed uint64, run func(*test)) {
	synctest.Test(t, func(t *testing.T) {
		g := &test{
			T: t, group: shardingtest.NewGroup(), random: rand.New(rand.NewPCG(seed, 0)),
			owners: map[string]*replica{}, worked: map[string]*replica{}, tokens: map[string]int64{},
		}
		run(g)
		for _, r := range g.replicas {
			g.group.Reconnect(r.Member)
			r.cut = false
		}
		bubble.Pass(3 * retryPeriod)
		for len(g.replicas) > 0 {
			g.leave(g.replicas[0])
		}
	})
}

func config(identity string) sharding.Config {
	return sharding.Config{
		Identity: identity, Kinds: []string{"bakeries"},
		RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Hashes: func(shard.Range) ([]uint64, bool) { return nil, true },
	}
}

func (g *test) join() *replica { return g.joinWith(config("m")) }

func (g *test) joinWith(c sharding.Config) *replica {
	m, err := g.group.NewMember(c)
	if err != nil {
		g.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &replica{Member: m, stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- m.Run(ctx) }()
	g.replicas = append(g.replicas, r)
	return r
}

// leave ends a replica. No running one owns its towns then.
func (g *test) leave(r *replica) {
	r.stop()
	if err := <-r.ended; (err != nil) != r.cut {
		g.Errorf("disconnected: %t, the error at the end is %v", r.cut, err)
	}
	g.replicas = slices.DeleteFunc(g.replicas, func(other *replica) bool { return other == r })
	for town, owner := range g.owners {
		if owner == r {
			delete(g.owners, town)
		}
	}
}

func (g *test) move(to *replica, ranges ...shard.Range) {
	if err := g.group.Move(g.Context(), to.Member, ranges...); err != nil {
		g.Fatal(err)
	}
	for _, town := range towns {
		for _, r := range ranges {
			if !r.Contains(shard.Hash(town)) {
				continue
			}
			g.owners[town] = to
			// At once: Move waits for that.
			if _, owns := to.Owns(town); !owns {
				g.Fatalf("%s was moved to %s, which doesn't own it", town, to.Identity())
			}
		}
	}
}

// check checks that towns belong to those that should own them, if they are connected, and that tokens grow.
func (g *test) check() {
	for _, town := range towns {
		for _, r := range g.replicas {
			owned, owns := r.Owns(town)
			if should := g.owners[town] == r && !r.cut; owns != should {
				g.Fatalf("%s owns %s: %t, it should: %t", r.Identity(), town, owns, should)
			}
			if !owns {
				continue
			}
			if owned.Token < g.tokens[town] || g.worked[town] != r && owned.Token == g.tokens[town] {
				g.Fatalf("%s: token %d after %d", town, owned.Token, g.tokens[town])
			}
			g.worked[town], g.tokens[town] = r, owned.Token
		}
	}
}

// TestMoves moves random ranges between members that join, leave, and are cut off and connected again. Only
// the member to which a range was moved last owns it, however much time passes.
func TestMoves(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, seed, func(g *test) {
				g.join()
				for range 40 {
					g.step()
					bubble.Pass(renewDeadline + time.Duration(g.random.IntN(60))*time.Second)
					g.check()
				}
			})
		})
	}
}

func (g *test) step() {
	connected := slices.DeleteFunc(slices.Clone(g.replicas), func(r *replica) bool { return r.cut })
	some := g.replicas[g.random.IntN(len(g.replicas))]
	switch what := g.random.IntN(10); {
	case what == 0 && len(g.replicas) < 6 || len(connected) == 0:
		g.join()
	case what == 1 && len(connected) > 1:
		g.leave(some)
	case what < 4 && (some.cut || len(connected) > 1):
		some.cut = !some.cut
		if some.cut {
			g.group.Disconnect(some.Member)
		} else {
			g.group.Reconnect(some.Member)
		}
	default:
		to := connected[g.random.IntN(len(connected))]
		first, last := g.random.Uint64(), g.random.Uint64()
		g.move(to, [][]shard.Range{
			{shardingtest.All},
			{shardingtest.Of(g.town()), shardingtest.Of(g.town())},
			{{First: min(first, last), Last: max(first, last)}},
		}[g.random.IntN(3)]...)
	}
}

func (g *test) town() string { return towns[g.random.IntN(len(towns))] }

// TestWorkGoesOn: a range doesn't move while work in it goes on, and the error says so. A move back to its
// owner withdraws the request.
func TestWorkGoesOn(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		from, to := g.join(), g.join()
		g.move(from, shardingtest.All)
		ends := make(chan struct{})
		worked := make(chan error, 1)
		go func() {
			worked <- from.Do(g.Context(), towns[0], func(context.Context, sharding.Owned) error {
				<-ends
				return nil
			})
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
		defer cancel()
		err := g.group.Move(ctx, to.Member, shardingtest.Of(towns[0]))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), from.Identity()+" has") {
			g.Errorf("error %v", err)
		}
		g.move(from, shardingtest.All)
		close(ends)
		if err := <-worked; err != nil {
			g.Error(err)
		}
		bubble.Pass(time.Minute)
		g.check()
		g.move(to, shardingtest.Of(towns[0]))
		g.check()
	})
}

// TestDisconnect: a member that is cut off acts until its Lease ends, and its ranges move only then.
func TestDisconnect(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		from, to := g.join(), g.join()
		g.move(from, shardingtest.All)
		bubble.Pass(time.Minute)
		g.group.Disconnect(from.Member)
		cut := time.Now()
		bubble.Pass(renewDeadline - retryPeriod - time.Second)
		if _, owns := from.Owns(towns[0]); !owns {
			g.Error("it doesn't act any more, though its lease holds")
		}
		g.move(to, shardingtest.All)
		if took := time.Since(cut); took > renewDeadline+time.Second {
			g.Errorf("the move took %s", took)
		}
		g.group.Reconnect(from.Member)
		bubble.Pass(time.Minute)
		g.check()
	})
}

// TestDisconnectIsQuiet: a member that is cut off doesn't log that it can't read the election's Lease,
// because there is no real election.
func TestDisconnectIsQuiet(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		var said atomic.Int64
		logger := funcr.New(func(_, line string) {
			if strings.Contains(line, `"lock"=`) { // as only elections have
				said.Add(1)
			}
		}, funcr.Options{})
		m, err := g.group.NewMember(config("m"))
		if err != nil {
			g.Fatal(err)
		}
		ctx, stop := context.WithCancel(klog.NewContext(context.Background(), logger))
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		if err := g.group.Move(g.Context(), m, shardingtest.All); err != nil {
			g.Fatal(err)
		}
		before := said.Load()
		g.group.Disconnect(m)
		bubble.Pass(time.Minute)
		if cut := said.Load() - before; before == 0 || cut > 0 {
			g.Errorf("elections have logged %d lines, and %d in a minute without connection", before, cut)
		}
		g.group.Reconnect(m)
		bubble.Pass(3 * retryPeriod)
		stop()
		if err := <-ended; err != nil {
			g.Error(err)
		}
	})
}

// TestInformers: the objects of a range that was moved are in the new owner's informers when work begins, and
// have left those of the old owner.
func TestInformers(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		server.Sharding(true, true)
		for _, town := range towns {
			server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: town, Name: "oven"}})
		}
		stores := map[*replica]cache.Store{}
		var informers sync.WaitGroup
		ctx, stop := context.WithCancel(g.Context())
		join := func() *replica {
			i := informer.NewShared[*corev1.ConfigMap](
				func() informer.ResourceClient[*corev1.ConfigMapList] { return server },
				informer.Options{Client: server})
			c := config("m")
			c.Hashes, c.Informers = nil, []cache.SharedInformer{i}
			r := g.joinWith(c)
			stores[r] = i.GetStore()
			informers.Go(func() { i.RunWithContext(ctx) })
			return r
		}
		a, b := join(), join()
		g.move(a, shardingtest.All)
		g.move(b, shardingtest.Of(towns[0]), shardingtest.Of(towns[1]))
		for _, town := range towns {
			owner := g.owners[town]
			err := owner.Do(g.Context(), town, func(context.Context, sharding.Owned) error {
				_, exists, err := stores[owner].GetByKey(town + "/oven")
				if !exists {
					g.Errorf("the oven of %s isn't there", town)
				}
				return err
			})
			if err != nil {
				g.Error(err)
			}
		}
		if there, left := len(stores[b].List()), len(stores[a].List()); there != 2 || left != len(towns)-2 {
			g.Errorf("%d objects are in the store of the owner of 2 namespaces, %d of %d in the other",
				there, left, len(towns))
		}
		stop()
		informers.Wait()
	})
}

// TestConfig: a member that sharding.NewMember makes with the group's configuration belongs to the group.
func TestConfig(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		one := g.group.Config(config("m"))
		m, err := sharding.NewMember(one)
		if err != nil {
			g.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- m.Run(ctx) }()
		other := g.join()
		g.move(other, shardingtest.All)
		if err := g.group.Move(g.Context(), m, shardingtest.Of(towns[0])); err != nil {
			g.Fatal(err)
		}
		if _, owns := m.Owns(towns[0]); !owns {
			g.Error("it owns nothing")
		}
		g.group.Disconnect(m)
		g.move(other, shardingtest.All)
		if _, owns := m.Owns(towns[0]); owns {
			g.Error("it still owns what was moved when it was cut off")
		}
		g.group.Reconnect(m)
		bubble.Pass(3 * retryPeriod)
		stop()
		if err := <-ended; err != nil {
			g.Error(err)
		}
		twin, err := sharding.NewMember(one)
		if err != nil {
			g.Fatal(err)
		}
		g.mustPanic("call Config for each", func() { g.group.Disconnect(twin) })
	})
}

// mustPanic checks that a call panics, and says why.
func (g *test) mustPanic(why string, call func()) {
	g.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, why) {
			g.Errorf("want a panic that says %q, got %s", why, got)
		}
	}()
	call()
}

// TestMisuse: wrong use of a group returns an error or panics.
func TestMisuse(t *testing.T) {
	inBubble(t, 0, func(g *test) {
		if _, err := g.group.NewMember(sharding.Config{Identity: "m"}); err == nil {
			g.Error("no error for a member without kinds")
		}
		idle, err := g.group.NewMember(config("idle"))
		if err != nil {
			g.Fatal(err)
		}
		g.move(g.join(), shardingtest.All)
		ctx, cancel := context.WithTimeout(g.Context(), time.Minute)
		defer cancel()
		err = g.group.Move(ctx, idle, shardingtest.All)
		if err == nil || !strings.Contains(err.Error(), "the table hasn't been read yet") {
			g.Errorf("it doesn't run, the error is %v", err)
		}
		g.check() // nothing has moved
		stranger, err := shardingtest.NewGroup().NewMember(config("stranger"))
		if err != nil {
			g.Fatal(err)
		}
		g.mustPanic("isn't a member of this group", func() { g.group.Disconnect(stranger) })
	})
}
