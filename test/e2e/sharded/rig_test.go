//go:build linux

package sharded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/judge"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// setting has the parameters of a test.
type setting struct {
	replicas, objects int
	field             shard.Field
	times             wire.Times
	slack             time.Duration
	// filters means that the server filters by selectors.
	filters  bool
	careless time.Duration
}

// rig is a group of replicas and their server, with everything that changes and watches objects.
type rig struct {
	*testing.T
	setting
	server   server
	builtins kubernetes.Interface
	client   versioned.Interface
	proxy    *proxy
	records  *records
	group    *group
	writer   *writer
	watcher  *watcher
	random   *rand.Rand
	// restarted means that the server was restarted in the last round. Some informers still wait before they try
	// again, and then list again what they already have.
	restarted bool
}

// newRig starts replicas with a server that has the definition of bakeries. It returns when all of them own
// ranges and all bakeries have been reconciled.
func newRig(t *testing.T, s server, setting setting) *rig {
	t.Helper()
	config := s.config()
	config.ContentType = "application/json"
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := &rig{
		T: t, setting: setting, server: s, records: &records{}, random: rand.New(rand.NewPCG(seed, 1)),
		builtins: kubernetes.NewForConfigOrDie(config), client: versioned.NewForConfigOrDie(config),
	}
	var address string
	r.proxy, address = startProxy(t, config, r.records)
	r.group = newGroup(t, wire.Job{
		Host: address, Field: setting.field, Times: setting.times, Workers: 4, Careless: setting.careless,
	})
	r.writer = &writer{
		client: r.client, records: r.records, field: setting.field, want: setting.objects,
		every:  20 * time.Millisecond,
		random: rand.New(rand.NewPCG(seed, 2)),
	}
	for i := range max(40, setting.objects/100) {
		r.writer.spaces = append(r.writer.spaces, fmt.Sprintf("town-%d", i))
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 15*time.Minute,
		errors.New("the group isn't in order, or the bakeries aren't there, after 15 minutes"))
	defer cancel()
	r.must(r.writer.fill(ctx, r.builtins))
	r.watch()
	r.must(r.group.launch(setting.replicas))
	r.holds(guarantee.NoneUnowned, r.settled(ctx, setting.replicas))
	r.holds(guarantee.NoneUnowned, r.reconciled(ctx))
	r.holds(guarantee.Converging, r.storesEqual(ctx))
	for member := range r.group.running() {
		if !slices.ContainsFunc(r.records.copy().Lists, func(l judge.List) bool {
			return l.Member == member && l.Ended > 0
		}) {
			t.Fatalf("%s has objects, but the proxy saw no end of a list of it", member)
		}
	}
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// holds ends the test if a guarantee is broken.
func (r *rig) holds(about guarantee.Guarantee, err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("%s: %v", about, err)
	}
}

// watch runs the watcher until the test ends.
func (r *rig) watch() {
	r.watcher = &watcher{records: r.records, pending: map[types.UID]string{}, versions: map[types.UID]string{}}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ObjectType: &shopv1.Bakery{}, Handler: r.watcher,
		ListerWatcher: cache.NewListWatchFromClient(
			r.client.ShopV1().RESTClient(), "bakeries", metav1.NamespaceAll, fields.Everything()),
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	r.Cleanup(func() {
		stop()
		<-ended
	})
}

// until calls ask until it returns no error.
func until(ctx context.Context, ask func() error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// table reads the current table. It records it, because the answer to the write may have been lost.
func (r *rig) table(ctx context.Context) (table judge.Table, version string, err error) {
	table.Began = wire.Now()
	lease, err := r.builtins.CoordinationV1().Leases(wire.Namespace).Get(ctx, wire.Group, metav1.GetOptions{})
	if err != nil {
		return table, "", err
	}
	table.Done = wire.Now()
	table.Entries, err = tableOf(lease)
	r.records.add(func(all *judge.Records) { all.Tables = append(all.Tables, table) })
	return table, lease.ResourceVersion, err
}

// balancer returns the identity of the elected balancer.
func (r *rig) balancer(ctx context.Context) string {
	lease, err := r.builtins.CoordinationV1().Leases(wire.Namespace).Get(
		ctx, wire.Group+"-balancer", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// settled waits until running replicas own all ranges, and that many replicas own some.
func (r *rig) settled(ctx context.Context, owners int) error {
	return until(ctx, func() error {
		table, _, err := r.table(ctx)
		if err != nil {
			return err
		}
		running, seen := r.group.running(), map[string]bool{}
		for _, e := range table.Entries {
			if running[e.Owner] == nil {
				return fmt.Errorf("range %016x is owned by %q, which isn't running: %v", e.First, e.Owner, table.Entries)
			}
			seen[e.Owner] = true
		}
		if len(seen) < owners {
			return fmt.Errorf("%d members own ranges, not %d: %v", len(seen), owners, table.Entries)
		}
		return nil
	})
}

// reconciled waits until all bakeries are reconciled. Nothing may change them meanwhile.
func (r *rig) reconciled(ctx context.Context) error {
	return until(ctx, func() error {
		list, err := r.client.ShopV1().Bakeries("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return r.watcher.left(list)
	})
}

// storesEqual waits until each replica has exactly the bakeries of its ranges. Nothing may change them
// meanwhile.
func (r *rig) storesEqual(ctx context.Context) error {
	return until(ctx, func() error {
		table, before, err := r.table(ctx)
		if err != nil {
			return err
		}
		list, err := r.client.ShopV1().Bakeries("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, replica := range r.group.running() {
			state, err := r.group.state(ctx, replica)
			if err != nil {
				return err
			}
			if err := differ(replica, state, r.field, table.Of(replica.Member), list); err != nil {
				return err
			}
		}
		if _, after, err := r.table(ctx); err != nil || before != after {
			return fmt.Errorf("the table has changed meanwhile: %w", err)
		}
		return nil
	})
}

// differ returns an error unless a replica has the listed bakeries of its ranges, and no others.
func differ(
	replica *replica, state wire.State, field shard.Field, ranges shard.Ranges, list *shopv1.BakeryList,
) error {
	want := map[types.UID]string{}
	for i := range list.Items {
		if b := &list.Items[i]; ranges.Contains(field.Hash(b)) {
			want[b.UID] = b.ResourceVersion
		}
	}
	if maps.Equal(want, state.Objects) {
		return nil
	}
	var missing, other []types.UID
	for uid, version := range want {
		if state.Objects[uid] != version {
			missing = append(missing, uid)
		}
	}
	for uid := range state.Objects {
		if want[uid] == "" {
			other = append(other, uid)
		}
	}
	return fmt.Errorf(
		"replica %s has %d bakeries, the server %d in its ranges %v: %d missing or old, %d too many",
		replica.Member, len(state.Objects), len(want), ranges, len(missing), len(other))
}

// pick returns n running replicas, with the balancer or without it.
func (r *rig) pick(n int, balancer bool) []*replica {
	leads := r.balancer(r.Context())
	var chosen []*replica
	members := r.group.running()
	if balancer && members[leads] != nil {
		chosen = append(chosen, members[leads])
	}
	delete(members, leads)
	names := slices.Sorted(maps.Keys(members))
	r.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:n-len(chosen)] {
		chosen = append(chosen, members[name])
	}
	return chosen
}
