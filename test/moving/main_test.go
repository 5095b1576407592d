package main

import (
	"strings"
	"testing"
)

// The programs move by import path.
func TestMoving(t *testing.T) {
	var report strings.Builder
	err := run(t.Context(), &report)
	t.Log(report.String())
	if err != nil {
		t.Error(err)
	}
}
