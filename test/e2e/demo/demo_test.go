package main

import "testing"

// TestDemo runs what make demo runs.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kubewright and runs an API server")
	}
	if err := run(t.Context()); err != nil {
		t.Error(err)
	}
}
