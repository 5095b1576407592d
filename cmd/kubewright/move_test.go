package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMoveStatus checks the exit statuses of move, and where it prints.
func TestMoveStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args, stdout, stderr string
		status               int
	}{
		{"move", "", "kubewright: no go.mod here or in any folder above; run kubewright in a module\n", 2},
		{"move x", "", "kubewright: move takes no packages: it moves the module in this folder as a whole\n", 2},
		{"move", "Nothing to change: go.mod requires neither k8s.io/client-go nor " +
			"sigs.k8s.io/controller-runtime.\n", "", 0},
		{"move --back", "Nothing to change: go.mod doesn't require github.com/kubewright/kubewright.\n", "", 0},
		{"move -w", "", "kubewright: -w changes only files that git can restore, and there is no git repository " +
			"here, or no git command; commit the module first\n", 2},
	} {
		if c.stdout != "" {
			if err := os.WriteFile("go.mod", []byte("module example.com/x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var stdout, stderr strings.Builder
		status := execute(t.Context(), strings.Fields(c.args), &stdout, &stderr)
		if status != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: exit status %d, %q, %q", c.args, status, &stdout, &stderr)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr strings.Builder
	status := execute(ctx, []string{"move"}, io.Discard, &stderr)
	if status != statusFailed || stderr.String() != "kubewright: interrupted: nothing is written\n" {
		t.Errorf("interrupted: exit status %d, %q", status, &stderr)
	}
}
