package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestConditions(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(
		filepath.Join(dir, "a.go"), []byte("// A header.\n\npackage a\n"), 0o644,
	); err != nil {
		t.Fatal(err)
	}
	o := &flagOutput{dir: dir}
	for condition, want := range map[string]bool{
		"a.go": true, "no a.go": false, "b.go": false, "no b.go": true,
		"a.go: ^package a$": true, "no a.go: ^package a$": false, "b.go: a": false, "no b.go: a": true,
		`a.go: \A// A header\.$`: true, `a.go: \Apackage`: false,
	} {
		if got := o.unmet([]string{condition}) == ""; got != want {
			t.Errorf("%q holds is %t", condition, got)
		}
	}
}
