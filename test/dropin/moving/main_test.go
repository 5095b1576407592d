package main

import (
	"strings"
	"testing"
)

// TestMoving moves each program by changing at most three lines, and checks it.
func TestMoving(t *testing.T) {
	var report strings.Builder
	err := run(t.Context(), &report, !testing.Short())
	t.Log(report.String())
	if err != nil {
		t.Error(err)
	}
}
