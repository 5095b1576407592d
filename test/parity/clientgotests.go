package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// test runs those of client-go's own tests that reach regenerated code; the others compile from the same
// files as in the release. A test that fails also runs in the release, and doesn't count if it fails there as
// well.
func (g *regenerated) test() error {
	packages, err := g.testedPackages()
	if err != nil {
		return err
	}
	results, err := g.testResults(g.copy, "test.json", packages)
	if err != nil {
		return err
	}
	released := testResults{}
	if failing := results.failing(); len(failing) > 0 {
		if released, err = g.testResults(g.orig, "test-release.json", failing); err != nil {
			return err
		}
	}
	for _, pkg := range packages {
		if results[pkg] == nil {
			results.add(testEvent{Action: "fail", Package: pkg}) // the package didn't build
		}
	}
	good, all, both := results.compare(released, os.Stdout)
	g.check("its own tests", good, all,
		fmt.Sprintf("of %d packages; %d more fail in the release, too", len(packages), both))
	return nil
}

// testedPackages returns the packages with tests that reach regenerated code.
func (g *regenerated) testedPackages() ([]string, error) {
	lines, err := g.lines(g.orig, "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...")
	if err != nil {
		return nil, err
	}
	reaches := regexp.MustCompile(` ` + clientGoModule + `/(` + strings.Join(clientGoFolders, "|") + `)[/ ]`)
	var packages []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, " ")
		if pkg, ok := strings.CutSuffix(name, ".test"); ok && reaches.MatchString(line+" ") {
			packages = append(packages, pkg)
		}
	}
	return packages, nil
}

// testEvent is a line of go test -json.
type testEvent struct{ Action, Package, Test, Output string }

// testResult is the result of a test, or of a package if Test is empty.
type testResult struct {
	action string
	output []string // the last lines
}

// testResults are results by package and then by test, without subtests.
type testResults map[string]map[string]*testResult

// testResults runs the tests of packages in one of the copies.
func (g *regenerated) testResults(dir, log string, packages []string) (testResults, error) {
	out, err := os.Create(filepath.Join(g.logs, log))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := g.command(dir, "go", append([]string{"test", "-timeout", "4m", "-json"}, packages...)...)
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		fmt.Printf("# go test in %s: %v\n", filepath.Base(dir), err)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return readResults(out)
}

func readResults(r io.Reader) (testResults, error) {
	results := testResults{}
	for in := json.NewDecoder(r); ; {
		var e testEvent
		switch err := in.Decode(&e); {
		case errors.Is(err, io.EOF):
			return results, nil
		case err != nil:
			return nil, fmt.Errorf("go test -json: %w", err)
		}
		if e.Package != "" && !strings.Contains(e.Test, "/") {
			results.add(e)
		}
	}
}

func (r testResults) add(e testEvent) {
	if r[e.Package] == nil {
		r[e.Package] = map[string]*testResult{}
	}
	result := r[e.Package][e.Test]
	if result == nil {
		result = &testResult{}
		r[e.Package][e.Test] = result
	}
	switch e.Action {
	case "pass", "fail", "skip":
		result.action = e.Action
	case "output":
		if result.output = append(result.output, e.Output); len(result.output) > 15 {
			result.output = result.output[1:]
		}
	}
}

// failing returns the packages that failed.
func (r testResults) failing() []string {
	var packages []string
	for pkg, tests := range r {
		if tests[""] != nil && tests[""].action == "fail" {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	return packages
}

// compare counts tests and packages. all leaves out those that fail in the release as well; good is how many
// of all pass. It reports the others to w.
func (r testResults) compare(released testResults, w io.Writer) (good, all, both int) {
	for pkg, tests := range r {
		for name, result := range tests {
			before := released[pkg][name]
			switch {
			case result.action == "pass" || result.action == "skip":
				good++
				all++
			case before != nil && before.action == result.action:
				both++
			default: // failed, or never ended
				all++
				fmt.Fprintf(w, "  %s %s fails\n    %s", pkg, name, strings.Join(result.output, "    "))
			}
		}
	}
	return good, all, both
}
