package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/internal/scratch"
)

// check is a check of a copy, in the module in a folder of it.
type check struct {
	name, folder string
	args         []string
	run          func(*copied, check) (result, error)
}

// Checks that are for another minor than this repository's. bothMinors compares the two. The others log a
// table with it: for ownStore the files of the minor add a row, and the minor's API server has the feature of
// leftOut.
const (
	bothMinors = "one tree of generated code, both minors"
	leftOut    = "managedFields that the API server leaves out"
	ownStore   = "own writes beside that client-go's store of written versions"
)

// result counts what passed, of all, and describes each failure. table has what tests log about measurements.
type result struct {
	passed, all int
	failures    []string
	table       string
}

// checks are the checks, in order.
var checks = []check{
	{"build of all packages", ".", []string{"./..."}, build},
	{"tests of the runtime, conformance included", ".", []string{"./runtime/...", "./internal/clientgo"}, test},
	{"tests of the informers", ".", []string{"./informers/..."}, test},
	{"tests of the generators, golden files and deep copies included", ".",
		[]string{"./generators/...", "./templates/...", "./cmd/..."}, test},
	{"tests of the examples", ".", []string{"./examples/..."}, test},
	{"tests of sharding", ".", []string{"./sharding/..."}, test},
	{"facades with that client-go's own tests", "test/dropin", []string{"./facades"}, test},
	{"caches and queues of controller-runtime", "contrib/controller-runtime", []string{"./..."}, test},
	{"metrics", "contrib/prometheus", []string{"./..."}, test},
	{"checks of definitions", "crdcheck", []string{"./..."}, test},
	{"the API server for tests", "envtest", []string{"./..."}, test},
	{"clients and informers beside that API server", "test/e2e", []string{"./..."}, test},
	{leftOut, "test/e2e",
		[]string{"./wirebench", "-serverdrop.objects=2000", "-serverdrop.rounds=3"}, test},
	{ownStore, "test/ctrlsuites",
		[]string{"./ownwrites", "-run=^TestTable$", "-short=false", "-ownwrites.table"}, test},
	{"informers beside faults", "test/lab", []string{"./..."}, test},
	{"client-go's generated code, by API and behaviour", "test/parity",
		[]string{"-steps", "generate,build,apidiff,probe", "client-go"}, parity},
	{bothMinors, "test/parity", []string{"minors"}, parity},
}

// excluded are foreign packages that can't be had or don't compile with a minor, until other projects
// release.
var excluded = []struct{ minor, name, reason string }{
	{"v0.38", "k8s.io/ktesting", "client-go/ktesting and tests of k8s.io modules import it; the module proxy " +
		"doesn't have it"},
	{"v0.38", "k8s.io/code-generator", "its commands aren't compared with: the module proxy doesn't have it"},
	{"v0.38", "sigs.k8s.io/controller-runtime v0.25.2", "its pkg/client/fake doesn't compile"},
}

// build counts packages that compile.
func build(c *copied, check check) (result, error) {
	var r result
	out, err := c.output(check.folder, "go",
		append([]string{"list", "-e", "-export", "-json=ImportPath,Export,GoFiles"}, check.args...)...)
	if err != nil {
		return r, err
	}
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return r, fmt.Errorf("go list -json: %w", err)
		}
		if len(p.GoFiles) > 0 {
			r.all++
			if p.Export != "" {
				r.passed++
			}
		}
	}
	if _, err := c.output(check.folder, "go", append([]string{"build"}, check.args...)...); err != nil {
		r.failures = append(r.failures, err.Error())
	}
	return r, nil
}

// tableIn returns the rows of the tables that a test has logged.
func tableIn(output string) string {
	var rows strings.Builder
	for line := range strings.Lines(output) {
		if _, row, ok := strings.Cut(line, ": |"); ok && strings.HasSuffix(row, "|\n") {
			rows.WriteString("|" + row)
		}
	}
	return rows.String()
}

// test counts top-level tests that pass. Those that are skipped don't count.
func test(c *copied, check check) (result, error) {
	var r result
	args := append([]string{"test", "-json", "-short", "-vet=off", "-timeout=30m"}, check.args...)
	results, err := scratch.RunTests(c.command(check.folder, "go", args...))
	broken := false
	for _, one := range results {
		top := one.Test != "" && !strings.Contains(one.Test, "/")
		if top && one.Action != "skip" {
			r.all++
		}
		switch {
		case one.Action == "fail" && (top || one.Test == ""):
			if one.Test == "" && slices.ContainsFunc(results, func(other scratch.Result) bool {
				return other.Package == one.Package && other.Test != "" && other.Action == "fail"
			}) {
				continue // the package failed because a test did
			}
			broken = broken || one.Test == ""
			r.failures = append(r.failures, strings.TrimSpace(one.Package+" "+one.Test)+"\n"+one.Output)
		case one.Action == "fail":
			r.failures = append(r.failures, one.Package+" "+one.Test+"\n"+one.Output)
		case top && one.Action == "pass":
			r.passed++
			r.table += tableIn(one.Output)
		}
	}
	if err != nil && (broken || len(r.failures) == 0) {
		return r, err // with the messages of the compiler
	}
	return r, nil
}

// parity runs a check of test/parity and counts the lines "check NAME: N of M", which it prints.
func parity(c *copied, check check) (result, error) {
	args := []string{"run", ".", "-work", filepath.Join(filepath.Dir(c.dir), "parity")}
	dir := filepath.Join(c.dir, check.folder)
	if check.name == bothMinors {
		// The tree is generated with what this repository requires.
		dir = filepath.FromSlash(check.folder)
		args = append(args, "-next", c.name, "-next-checkout", c.dir)
	} else {
		args = append(args, "-release", c.name)
	}
	if c.minor != minor {
		args = append(args, "-with", kubeOpenAPI)
	}
	cmd := exec.Command("go", append(args, check.args...)...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result{}, err
	}
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	var r result
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		fmt.Println("  " + line)
		if m := ratio.FindStringSubmatch(line); m != nil && !strings.Contains(line, "(not required)") {
			passed, _ := strconv.Atoi(m[1])
			all, _ := strconv.Atoi(m[2])
			r.passed += passed
			r.all += all
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		r.failures = append(r.failures, fmt.Sprintf("%v\n%s", err, stderr.String()))
	}
	return r, nil
}

var ratio = regexp.MustCompile(`^check .*: (\d+) of (\d+)\b`)
