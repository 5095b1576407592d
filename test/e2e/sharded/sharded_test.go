//go:build linux

package sharded

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/test/e2e/internal/filters"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

var (
	rounds   = flag.Int("sharded.rounds", 0, "rounds of each test with rounds; 0 stands for a few")
	objects  = flag.Int("sharded.objects", 400, "bakeries")
	replicas = flag.Int("sharded.replicas", 8, "replicas")
	lease    = flag.Duration("sharded.lease", 6*time.Second, "LeaseDuration")
	renew    = flag.Duration("sharded.renew", 4*time.Second, "RenewDeadline")
	retry    = flag.Duration("sharded.retry", time.Second, "RetryPeriod")
	slack    = flag.Duration("sharded.slack", 10*time.Second,
		"how long the machine may take for what has no bound; it also runs other tests")
	from = flag.Int("sharded.from", 0, "the fault to begin with")
)

// flags returns the setting that the flags ask for.
func flags(by shard.Field, filters bool) setting {
	return setting{
		replicas: *replicas, objects: *objects, field: by, slack: *slack, filters: filters,
		times: wire.Times{LeaseDuration: *lease, RenewDeadline: *renew, RetryPeriod: *retry, JoinDelay: 2 * *retry},
	}
}

// few returns the number of rounds: that of the flag if it is set, otherwise n, or one with -short.
func few(n int) int {
	switch {
	case *rounds > 0:
		return *rounds
	case testing.Short():
		return 1
	}
	return n
}

// TestEmbeddedFilters uses an embedded server that filters.
func TestEmbeddedFilters(t *testing.T) {
	s := startEmbedded(t, filtering)
	checkFilters(t, s, true)
	newRig(t, s, flags(shard.ByNamespace, true)).rounds(few(len(faults)))
}

// TestEmbeddedWhole uses an embedded server that doesn't filter, and bakeries that are distributed by their
// UIDs.
func TestEmbeddedWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute; make nightly runs it")
	}
	s := startEmbedded(t, whole)
	checkFilters(t, s, false)
	newRig(t, s, flags(shard.ByUID, false)).rounds(few(1))
}

// TestKube uses a kube-apiserver that filters.
func TestKube(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver")
	}
	s := startKube(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	install(t, ctx, s)
	checkFilters(t, s, true)
	newRig(t, s, flags(shard.ByNamespace, true)).rounds(few(len(faults)))
}

// TestFinds has careless replicas: they check ownership only before a reconcile, and take their time. After a
// replica was frozen for longer than its Lease, it makes forbidden writes, and the judge must see them.
func TestFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("tests the judge of the other tests, for twenty seconds")
	}
	setting := flags(shard.ByNamespace, true)
	setting.replicas, setting.objects, setting.careless = 2, 80, 200*time.Millisecond
	setting.times = wire.Times{LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second,
		RetryPeriod: 500 * time.Millisecond, JoinDelay: time.Second}
	r := newRig(t, startEmbedded(t, filtering), setting)
	if about, err := r.round(faults[1]); err != nil {
		t.Fatalf("%s: %v", about, err)
	}
	found := map[string]bool{}
	for _, wrong := range r.judge().Wrong {
		t.Log(wrong)
		for _, what := range []string{"after the end of its lease", "got it by token"} {
			found[what] = found[what] || strings.Contains(wrong, what)
		}
	}
	if !found["after the end of its lease"] || !found["got it by token"] {
		t.Errorf("of the forbidden writes, found: %v", found)
	}
}

// checkFilters ends the test unless the server filters, or doesn't, as wanted.
func checkFilters(t *testing.T, s server, want bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lists, watches, err := filters.ShardSelector(ctx, s.config(), "check")
	if err != nil || lists != want || watches != want {
		t.Fatalf("the server filters lists: %t, watches: %t, want %t: %v", lists, watches, want, err)
	}
}

// install creates the definitions of the examples, and waits until bakeries are served.
func install(t *testing.T, ctx context.Context, s server) {
	t.Helper()
	definitions, err := apiserver.ReadCRDs(crds.Files)
	if err != nil {
		t.Fatal(err)
	}
	client := clientset.NewForConfigOrDie(s.config()).ApiextensionsV1().CustomResourceDefinitions()
	for _, definition := range definitions {
		if _, err := client.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bakeries := versioned.NewForConfigOrDie(s.config()).ShopV1().Bakeries("")
	if err := until(ctx, func() error {
		_, err := bakeries.List(ctx, metav1.ListOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
