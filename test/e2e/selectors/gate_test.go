package selectors

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/test/e2e/internal/filters"
)

// gate is an environment variable that makes the server of TestShardedListAndWatch filter by shard selectors.
const gate = "SELECTORS_TEST_GATE"

// TestShardedListAndWatch requests a part of the objects, from a server with the feature gate and from one
// without. As the gate is global to a process, the test runs itself in another process.
func TestShardedListAndWatch(t *testing.T) {
	on := os.Getenv(gate) != ""
	if !on {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShardedListAndWatch$", "-test.v")
		child.Env = append(os.Environ(), gate+"=on")
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestShardedListAndWatch") {
			t.Errorf("with the feature gate: %v\n%s", err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{ShardedListAndWatch: on})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	lists, watches, err := filters.ShardSelector(ctx, server.Config(), "half")
	if err != nil || lists != on || watches != on {
		t.Errorf("the server filters lists: %t, watches: %t, %v; the feature gate is %t", lists, watches, err, on)
	}
	other, err := apiserver.Start(ctx, apiserver.Options{ShardedListAndWatch: !on})
	if err == nil {
		other.Stop()
		t.Fatal("the process has servers with the feature gate and without")
	}
	if !strings.Contains(err.Error(), "in another process") {
		t.Errorf("the other server's error is %v", err)
	}
}
