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
		if reports[e.bug.Report] || e.bug.Report == "" || len(e.bug.Guarantees) == 0 ||
			slices.ContainsFunc(e.bug.Guarantees, func(g guarantee.Guarantee) bool { return !guarantees[g] }) {
			t.Errorf("%s: report %q, guarantees %q", e.name, e.bug.Report, e.bug.Guarantees)
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

func TestRead(t *testing.T) {
	for out, want := range map[string]failure{
		`--- FAIL: TestModel (0.00s)
    --- FAIL: TestModel/seed_3 (0.10s)
        model_test.go:10: 4 informers
        model_test.go:12: complete: step 4 (a write): the store is wrong
        model_test.go:14: ordered per object: step 4
        model_test.go:16: a trace
    --- FAIL: TestModel/seed_4 (0.10s)
        model_test.go:12: unique: step 1
FAIL
`: {test: "TestModel/seed_3", seed: "3", law: "complete: step 4 (a write): the store is wrong"},
		"--- FAIL: TestLaws (0.00s)\n    laws_test.go:3: 4 workers\n    laws_test.go:4: 3 are left\n": {
			test: "TestLaws", law: "3 are left"},
		"fatal error: all goroutines are asleep\n": {law: "all goroutines are asleep", ended: true},
		"WARNING: DATA RACE\n--- FAIL: TestModel (0.00s)\n    testing.go:1712: race detected\n": {
			test: "TestModel", law: "DATA RACE", ended: true},
		"panic: runtime error: invalid memory address\n": {},
	} {
		if got := read(out); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := exactly("TestModel/seed_3"); got != "^TestModel$/^seed_3$" {
		t.Error(got)
	}
}

// TestMisnames checks that a test which fails because of something else doesn't find a bug.
func TestMisnames(t *testing.T) {
	broken := []guarantee.Guarantee{guarantee.Complete, guarantee.Ordered}
	for f, want := range map[failure]string{
		{law: "complete: it differs"}:             "",
		{law: "ordered per object: it went back"}: "",
		{law: "DATA RACE", ended: true}:           "",
		{law: "it differs"}:                       "the failure names no guarantee",
		{law: "unique: it came twice"}: `the failure names the guarantee "unique", ` +
			`the bug is said to break ["complete" "ordered per object"]`,
	} {
		if got := f.misnames(broken); got != want {
			t.Errorf("%+v: %q, want %q", f, got, want)
		}
	}
}

// TestSection makes the section of the page.
func TestSection(t *testing.T) {
	e := entries()
	i := slices.IndexFunc(e, func(e entry) bool { return e.bug.Rig == stores })
	text := section([]finding{{entry: e[i], failure: failure{seed: "7"}}})
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
