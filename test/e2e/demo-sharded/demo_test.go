package main

import "testing"

// TestDemo runs what make demo-sharded runs.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an API server and three processes for a minute")
	}
	if err := run(t.Context()); err != nil {
		t.Error(err)
	}
}
