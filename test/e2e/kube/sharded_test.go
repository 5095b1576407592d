package kube

import (
	"context"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/e2e/internal/filters"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// shardedListAndWatch is the flag that makes a kube-apiserver filter by shard selectors.
const shardedListAndWatch = "--feature-gates=ShardedListAndWatch=true"

// TestShardedListAndWatch requests a part of the objects, from a kube-apiserver with the feature gate and
// from one without.
func TestShardedListAndWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver")
	}
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for on, flags := range map[bool][]string{true: {shardedListAndWatch}, false: nil} {
		server, err := kubeserver.Start(ctx, binaries, kubeserver.Options{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		lists, watches, err := filters.ShardSelector(ctx, server.Config(), "half")
		if err != nil || lists != on || watches != on {
			t.Errorf("with the feature gate %t, the server filters lists: %t, watches: %t, %v",
				on, lists, watches, err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
}
