package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestCurrent: the table matches client-go's informers, in the version that go.mod requires.
func TestCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "informers", "table.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("informers/table.go isn't current: run go generate ./informers")
	}
}
