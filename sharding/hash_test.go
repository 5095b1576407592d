package sharding_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/pages"
	"github.com/kubewright/kubewright/runtime/shard"
)

// TestHashOnPage runs the command with which docs/sharding.md prints the hash of a namespace.
func TestHashOnPage(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	blocks, err := pages.Section("..", "docs/sharding.md", "At night")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, block := range blocks {
		if block.Language != "sh" {
			continue
		}
		ran++
		printed, err := exec.Command("sh", "-c", block.Text).CombinedOutput()
		if want := fmt.Sprintf("%016x\n", shard.Hash("rome")); err != nil || string(printed) != want {
			t.Errorf("%s prints %s, want %s, %v", strings.TrimSpace(block.Text), printed, want, err)
		}
	}
	if ran != 1 {
		t.Errorf("%d commands, want 1", ran)
	}
}
