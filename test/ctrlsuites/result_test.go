package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

const report = `[{"SpecReports": [
	{"LeafNodeType": "BeforeSuite", "State": "passed"},
	{"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "passed"},
	{"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "failed",
		"Failure": {"Message": "no"}},
	{"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "timedout"},
	{"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "panicked"},
	{"LeafNodeType": "It", "LeafNodeText": "waits", "State": "pending"},
	{"LeafNodeType": "ReportAfterSuite", "LeafNodeText": "reading", "State": "passed"}
]}]`

func TestGinkgoResults(t *testing.T) {
	found, err := ginkgoResults([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	want := results{
		"[BeforeSuite]": {passed: true},
		"a b works":     {passed: true},
		"a b works (2)": {failure: "no"},
		"a b works (3)": {},
		"a b works (4)": {},
		"waits":         {skipped: true},
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%+v", found)
	}
	if passed, all := found.passed(); passed != 2 || all != 5 {
		t.Errorf("%d of %d passed", passed, all)
	}
	for _, report := range []string{"", "[]", `[{"SpecReports": []}]`} {
		if found, err := ginkgoResults([]byte(report)); err == nil {
			t.Errorf("%q has results: %+v", report, found)
		}
	}
}

func TestGoResults(t *testing.T) {
	want := results{"TestA": {passed: true}, "TestB": {},
		"TestC": {skipped: true}}
	if found := goResults(`=== RUN   TestA
    --- FAIL: TestA/sub (0.00s)
--- PASS: TestA (0.00s)
--- FAIL: TestB (0.10s)
--- SKIP: TestC (0.00s)
`); !reflect.DeepEqual(found, want) {
		t.Errorf("%+v", found)
	}
}

func TestCompare(t *testing.T) {
	good, bad, skipped := result{passed: true}, result{}, result{skipped: true}
	before := results{"good": good, "bad": bad, "worse": good, "excused": good, "gone": good,
		"mended": bad, "not run": skipped, "no longer run": good, "better": good}
	after := results{"good": good, "bad": bad, "worse": bad, "excused": bad, "mended": good,
		"not run": skipped, "no longer run": skipped, "better": good}
	want := comparison{
		failing:     []string{"gone", "no longer run", "worse"},
		excused:     []string{"excused"},
		superfluous: []string{"better", "unknown"},
		both:        []string{"bad"},
	}
	excuses := map[string]string{"excused": "why", "better": "why", "unknown": "why"}
	if got := compare(before, after, excuses); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestMend(t *testing.T) {
	before := func() results {
		return results{"good": {passed: true}, "bad": {failure: "no"}, "skipped": {skipped: true}}
	}
	got := before()
	got.mend(results{"good": {failure: "now"}, "bad": {failure: "yet again"}})
	if !reflect.DeepEqual(got, before()) || !got.failed() {
		t.Errorf("%+v", got)
	}
	got.mend(results{"good": {failure: "now"}, "bad": {passed: true}})
	want := before()
	want["bad"] = result{passed: true, again: true, failure: "no"}
	if !reflect.DeepEqual(got, want) || got.failed() {
		t.Errorf("%+v", got)
	}
}

func TestExpected(t *testing.T) {
	after := results{"good": {passed: true}, "bad": {}, "skipped": {skipped: true}}
	want := comparison{failing: []string{"bad"}}
	if got := compare(expected(after), after, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestPatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	const text = "one\ntwo\n\ttwo\nthree\nthree\n"
	for line, want := range map[string]string{
		"one": "else\ntwo\n\ttwo\nthree\nthree\n", "two": "one\nelse\n\ttwo\nthree\nthree\n",
		"three": "", "on": "", "four": "", // not once
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		failed := patch(file, line, "else")
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		refused := want == ""
		if refused {
			want = text
		}
		if (failed != nil) != refused || string(got) != want {
			t.Errorf("%q: %q, %v", line, got, failed)
		}
	}
}
