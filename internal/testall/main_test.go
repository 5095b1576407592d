package main

import (
	"slices"
	"testing"
)

// TestParts checks that both parts of the main module have the packages that they should have.
func TestParts(t *testing.T) {
	linked, others, err := partsOfMain("../..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/kubewright/kubewright/"
	for _, name := range []string{"eyes", "informers", "runtime/queue", "sharding", "examples/controller",
		"internal/clientgo", "runtime/internal/decode"} {
		if !slices.Contains(linked, module+name) {
			t.Errorf("%s isn't tested with the race detector", name)
		}
	}
	for _, name := range []string{"cmd/kubewright", "generators", "internal/testall"} {
		if !slices.Contains(others, module+name) {
			t.Errorf("%s isn't tested without the race detector", name)
		}
	}
}
