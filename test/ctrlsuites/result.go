package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// result is the result of a test.
type result struct {
	passed, skipped bool
	// again means that the test failed before it passed.
	again   bool
	failure string
}

// results are those of a suite by the names of tests: Ginkgo's specs, the steps before and after them, and
// Go's tests.
type results map[string]result

func (r results) has(name string) bool {
	_, ok := r[name]
	return ok
}

// passed counts the tests that passed, and those that were run.
func (r results) passed() (passed, run int) {
	for _, one := range r {
		if one.passed {
			passed++
		}
		if !one.skipped {
			run++
		}
	}
	return passed, run
}

// failed reports whether a test failed.
func (r results) failed() bool {
	passed, run := r.passed()
	return passed < run
}

// mend marks failed tests as passed if they passed in another run.
func (r results) mend(another results) {
	for name, one := range r {
		if !one.passed && another[name].passed {
			one.passed, one.again = true, true
			r[name] = one
		}
	}
}

// readResults reads Ginkgo's report and the output of a test run in the folder dir.
func readResults(dir, log string) (results, error) {
	report, err := os.ReadFile(log + ".json")
	if err != nil {
		return nil, err
	}
	found, err := ginkgoResults(report)
	if err != nil {
		return nil, err
	}
	output, err := os.ReadFile(log + ".txt")
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_suite_test.go"))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%d files with suites in %s: %v", len(files), dir, err)
	}
	source, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	ran := runsSpecs.FindSubmatch(source)
	if ran == nil {
		return nil, fmt.Errorf("%s runs no specs", files[0])
	}
	for name, one := range goResults(string(output)) {
		if name != string(ran[1]) {
			found[name] = one
		}
	}
	return found, nil
}

// ginkgoResults reads a report of Ginkgo's. If several tests have the same name, the second one is called
// "(2)".
func ginkgoResults(report []byte) (results, error) {
	var reports []struct {
		SpecReports []struct {
			ContainerHierarchyTexts    []string
			LeafNodeType, LeafNodeText string
			State                      string
			Failure                    struct{ Message string }
		}
	}
	if err := json.Unmarshal(report, &reports); err != nil {
		return nil, err
	}
	found := results{}
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			switch spec.LeafNodeType {
			case "ReportAfterSuite", "ReportBeforeSuite":
				continue
			case "It":
			default:
				spec.LeafNodeText = "[" + spec.LeafNodeType + "]"
			}
			name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
			unique := name
			for n := 2; found.has(unique); n++ {
				unique = fmt.Sprintf("%s (%d)", name, n)
			}
			found[unique] = result{
				passed:  spec.State == "passed",
				skipped: spec.State == "skipped" || spec.State == "pending",
				failure: spec.Failure.Message,
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the report has no specs")
	}
	return found, nil
}

var goResult = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+) \(`)

// goResults finds the results of tests in the output of go test -v, without subtests.
func goResults(output string) results {
	found := results{}
	for _, m := range goResult.FindAllStringSubmatch(output, -1) {
		found[m[2]] = result{passed: m[1] == "PASS", skipped: m[1] == "SKIP"}
	}
	return found
}

// comparison lists the tests of a suite that fail with kubewright.
type comparison struct {
	// failing are those without an excuse, excused those with one.
	failing, excused []string
	// superfluous are excuses for tests that pass or don't exist.
	superfluous []string
	// both are those that fail without kubewright, too.
	both []string
}

// compare compares a run with one without kubewright.
func compare(before, after results, excuses map[string]string) comparison {
	var c comparison
	for name, was := range before {
		switch is := after[name]; {
		case is.passed || is.skipped && was.skipped:
		case !was.passed:
			c.both = append(c.both, name)
		case excuses[name] != "":
			c.excused = append(c.excused, name)
		default:
			c.failing = append(c.failing, name)
		}
	}
	for name := range excuses {
		if !slices.Contains(c.excused, name) {
			c.superfluous = append(c.superfluous, name)
		}
	}
	for _, names := range [][]string{c.failing, c.excused, c.superfluous, c.both} {
		slices.Sort(names)
	}
	return c
}

// expected returns the results of a baseline in which every test that ran passed.
func expected(after results) results {
	before := results{}
	for name, is := range after {
		before[name] = result{passed: !is.skipped, skipped: is.skipped}
	}
	return before
}

// use is what kubewright made in a run of a suite, and how its informers read lists and watches.
type use struct {
	Informers, Queues, Streamed, Whole, Unseen int
	// Why counts informers by the reason why the last list or watch wasn't streamed.
	Why map[string]int
}

func readUse(file string) (use, error) {
	var u use
	text, err := os.ReadFile(file)
	if err != nil {
		return u, err
	}
	return u, json.Unmarshal(text, &u)
}
