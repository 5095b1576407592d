package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/internal/scratch"
)

// outcome is what the tests of a program come to in a state.
type outcome struct {
	// runs have the action of each test in each run: pass, fail or skip.
	runs []map[string]string
	// built is the compiler's first message, if the program doesn't compile.
	built string
}

// runTests compiles the program and runs its tests.
func (w *workplace) runTests(ctx context.Context, state string, runs int) *outcome {
	o := &outcome{}
	if _, err := w.run(ctx, state, "go", "build", "./..."); err != nil {
		o.built = err.Error()
	}
	for n := range runs {
		cmd := w.command(ctx, "go", append([]string{"test", "-count=1", "-json", "-vet=off", "-timeout=20m",
			"-skip=" + w.skip}, w.tests...)...)
		results, err := scratch.RunTests(cmd)
		found := map[string]string{}
		var log strings.Builder
		for _, r := range results {
			found[r.Package+" "+r.Test] = r.Action
			if r.Action == "fail" {
				fmt.Fprintf(&log, "FAIL %s %s\n%s\n", r.Package, r.Test, r.Output)
			}
		}
		fmt.Fprintf(&log, "run %d in the state %s: %s, error %v\n", n+1, state, countOf(found), err)
		if err := appendTo(w.log(state), log.String()); err != nil {
			o.built = err.Error()
		}
		o.runs = append(o.runs, found)
	}
	return o
}

// countOf counts the tests that passed, and those that failed.
func countOf(run map[string]string) string {
	n := map[string]int{}
	for name, action := range run {
		if !strings.HasSuffix(name, " ") || action == "fail" {
			n[action]++
		}
	}
	if n["fail"] == 0 {
		return fmt.Sprint(n["pass"])
	}
	return fmt.Sprintf("%d, %d failed", n["pass"], n["fail"])
}

// String lists the counts of the runs, once if they are all the same.
func (o *outcome) String() string {
	if o.built != "" {
		return "doesn't compile"
	}
	var counts []string
	for _, run := range o.runs {
		counts = append(counts, countOf(run))
	}
	return strings.Join(slices.Compact(counts), "; ")
}

// compare returns an error if a test has other outcomes than before: one that no run before had. It may pass
// if it did as released, because a newer client-go alone can fail a test that passes with ours.
func (o *outcome) compare(after, released *outcome) error {
	if (o.built == "") != (after.built == "") {
		return fmt.Errorf("go build ./... before: %q, after: %q", o.built, after.built)
	}
	before, now, first := o.actions(), after.actions(), released.actions()
	var different []string
	for _, test := range slices.Sorted(maps.Keys(now)) {
		for _, action := range slices.Sorted(maps.Keys(now[test])) {
			if !before[test][action] && !(action == "pass" && first[test][action]) {
				different = append(different, test+": "+action)
			}
		}
	}
	for _, test := range slices.Sorted(maps.Keys(before)) {
		if now[test] == nil && !strings.HasSuffix(test, " ") { // A package is among them only if it fails.
			different = append(different, test+": missing")
		}
	}
	if len(different) > 0 {
		return fmt.Errorf("%d tests end otherwise:\n%s", len(different), strings.Join(different, "\n"))
	}
	return nil
}

// actions returns the actions of each test in all runs.
func (o *outcome) actions() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, run := range o.runs {
		for test, action := range run {
			if all[test] == nil {
				all[test] = map[string]bool{}
			}
			all[test][action] = true
		}
	}
	return all
}
