package main

import (
	"strings"
	"testing"
)

// TestMoving moves each program by changing at most three lines, and checks it before and after.
func TestMoving(t *testing.T) {
	var report strings.Builder
	err := run(t.Context(), &report)
	t.Log(report.String())
	if err != nil {
		t.Error(err)
	}
}
