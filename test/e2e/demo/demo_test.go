package main

import "testing"

// TestDemo runs what make demo runs.
func TestDemo(t *testing.T) {
	if err := run(t.Context()); err != nil {
		t.Error(err)
	}
}
