package apiserver_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/test/e2e/apiserver"
	"github.com/kubewright/kubewright/test/e2e/internal/filters"
)

// TestShardedListAndWatch requests a part of the objects, from a server with the feature gate and from one
// without. As the gate is global to a process, the test runs itself in another process.
func TestShardedListAndWatch(t *testing.T) {
	on := os.Getenv(sharding) != ""
	if !on {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestShardedListAndWatch$", "-test.v")
		child.Env = append(os.Environ(), sharding+"=on")
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestShardedListAndWatch") {
			t.Errorf("with the feature gate: %v\n%s", err, out)
		}
	}
	v := newVisit(t)
	lists, watches, err := filters.ShardSelector(v.ctx, v.server.Config(), v.namespace)
	v.ok(err)
	if lists != on || watches != on {
		t.Errorf("the server filters lists: %t, watches: %t; the feature gate is %t", lists, watches, on)
	}
	other, err := apiserver.Start(v.ctx, apiserver.Options{ShardedListAndWatch: !on})
	if err == nil {
		other.Stop()
		t.Fatal("the process has servers with the feature gate and without")
	}
	if !strings.Contains(err.Error(), "in another process") {
		t.Errorf("the other server's error is %v", err)
	}
}
