package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// TestBugsCompile checks that each bug can be planted where it is said to be. make track-record has the rigs
// find them.
func TestBugsCompile(t *testing.T) {
	s, err := sources(t.TempDir(), filepath.Join("..", "..", root))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compile(); err != nil {
		t.Fatal(err)
	}
}

// TestRecord checks that the record doesn't flatter: laws find all bugs, most of which are where all users
// meet them.
func TestRecord(t *testing.T) {
	guarantees := map[guarantee.Guarantee]bool{}
	for _, row := range guarantee.Table() {
		guarantees[row.Guarantee] = true
	}
	reports := map[string]bool{}
	nightly := 0
	for _, e := range entries() {
		if reports[e.bug.Report] || e.bug.Report == "" || !guarantees[e.bug.Guarantee] {
			t.Errorf("%s: report %q, guarantee %q", e.name, e.bug.Report, e.bug.Guarantee)
		}
		reports[e.bug.Report] = true
		if rigs[e.bug.Rig].folder == "" {
			t.Errorf("%s: there is no rig %q", e.name, e.bug.Rig)
		}
		if e.nightly {
			nightly++
		}
	}
	if n := len(entries()); n != 30 || len(facade) > 6 || nightly != 5 {
		t.Errorf("%d bugs, %d of package cache's DeltaFIFO, %d nightly", n, len(facade), nightly)
	}
}

func TestFailure(t *testing.T) {
	const out = `--- FAIL: TestModel (0.00s)
    --- FAIL: TestModel/seed_3 (0.10s)
        model_test.go:12: step 4 (a write): the store is wrong
    --- FAIL: TestModel/seed_4 (0.10s)
        model_test.go:12: step 1
FAIL
`
	test, number, law := failure(out)
	if test != "TestModel/seed_3" || number != "3" || law != "step 4 (a write): the store is wrong" {
		t.Errorf("%q, %q: %q", test, number, law)
	}
	if got := exactly(test); got != "^TestModel$/^seed_3$" {
		t.Error(got)
	}
	if test, _, law := failure("fatal error: all goroutines are asleep\n"); test != "" ||
		law != "all goroutines are asleep" {
		t.Errorf("%q: %q", test, law)
	}
}

// TestSection makes the section of the page.
func TestSection(t *testing.T) {
	e := entries()
	i := slices.IndexFunc(e, func(e entry) bool { return e.bug.Rig == stores })
	text := section([]finding{{entry: e[i], failed: true, seed: "7"}})
	for _, line := range []string{
		"| [kubernetes/kubernetes#84959](https://github.com/kubernetes/kubernetes/issues/84959) | " +
			"bounded memory | the model of stores | 0.0 | 7 |\n",
		"- *none lost*: ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}
