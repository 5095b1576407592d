package main

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestVersions checks that the constants are the versions that this repository requires.
func TestVersions(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"k8s.io/client-go " + clientGo, "sigs.k8s.io/controller-runtime " + controllerRuntime,
	} {
		if !strings.Contains(string(text), "\t"+line+"\n") {
			t.Errorf("go.mod doesn't require %s", line)
		}
	}
}

// TestRefused checks that a program that can't be had is no row, and no failure of a move.
func TestRefused(t *testing.T) {
	p := program{name: "none", module: "example.com/none", version: "v1.0.0", env: []string{"GOPROXY=off"}}
	row, err := newWorkplace(p, t.TempDir(), "").test(t.Context(), 1)
	if !errors.Is(err, errRefused) || row.Released != "" {
		t.Errorf("%+v, %v", row, err)
	}
}

// TestCompare checks what counts as a difference: an outcome that no run had, and a
// test that is gone.
func TestCompare(t *testing.T) {
	of := func(runs ...map[string]string) *outcome { return &outcome{runs: runs} }
	pass, fail := map[string]string{"p T": "pass"}, map[string]string{"p T": "fail"}
	failed := map[string]string{"p T": "fail", "p ": "fail"}
	for name, test := range map[string]struct {
		released, before, after *outcome
		want                    string
	}{
		"the same":      {of(pass), of(pass, pass), of(pass, pass), ""},
		"flaky before":  {of(pass), of(pass, fail), of(pass, pass), ""},
		"as released":   {of(pass), of(fail), of(pass), ""},
		"fails":         {of(pass), of(pass, pass), of(pass, fail), "1 tests end otherwise:\np T: fail"},
		"fails again":   {of(fail), of(pass), of(fail), "1 tests end otherwise:\np T: fail"},
		"gone":          {of(pass), of(pass), of(map[string]string{}), "1 tests end otherwise:\np T: missing"},
		"package":       {of(pass), of(pass, failed), of(pass, pass), ""},
		"doesn't build": {of(pass), of(pass), &outcome{built: "x"}, `go build ./... before: "", after: "x"`},
	} {
		err := test.before.compare(test.after, test.released)
		if got := ""; err != nil && err.Error() != test.want || err == nil && got != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	got := of(pass, pass).String() + ", " + of(pass, fail).String()
	if got != "1, 1; 0, 1 failed" {
		t.Error(got)
	}
}
