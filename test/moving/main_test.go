package main

import (
	"strings"
	"testing"
)

// TestMoving moves each program by changing import paths only.
func TestMoving(t *testing.T) {
	var report strings.Builder
	err := run(t.Context(), &report)
	t.Log(report.String())
	if err != nil {
		t.Error(err)
	}
}
