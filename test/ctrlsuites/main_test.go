package main

import "testing"

// TestCaches runs the tests of pkg/cache; make ctrl-suites runs the others, too.
func TestCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a kube-apiserver, and then runs for two minutes")
	}
	chosen, err := choose("cache")
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), t.Output(), chosen, false, false); err != nil {
		t.Error(err)
	}
}
