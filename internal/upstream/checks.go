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
	// next says that the check is for another minor than this repository's, logs that its tests log a table
	// with such a minor.
	next, logs bool
}

// result counts what passed, of all that ran, and what was excluded, and describes each failure. table has
// what tests log about measurements.
type result struct {
	passed, all, excluded int
	failures              []string
	table                 string
}

// checks are the checks, in order. For the one of own writes the files of the minor add a row, and the
// minor's API server has the feature of the one of managedFields.
var checks = []check{
	{name: "build of all packages", folder: ".", args: []string{"./..."}, run: build},
	{name: "tests of the runtime, conformance included", folder: ".",
		args: []string{"./runtime/...", "./internal/clientgo"}, run: test},
	{name: "tests of the informers", folder: ".", args: []string{"./informers/..."}, run: test},
	{name: "tests of the generators, golden files and deep copies included", folder: ".",
		args: []string{"./generators/...", "./templates/...", "./cmd/..."}, run: test},
	{name: "tests of the examples", folder: ".", args: []string{"./examples/..."}, run: test},
	{name: "tests of sharding", folder: ".", args: []string{"./sharding/..."}, run: test},
	{name: "facades with that client-go's own tests", folder: "test/dropin",
		args: []string{"./facades"}, run: test},
	{name: "caches and queues of controller-runtime", folder: "contrib/controller-runtime",
		args: []string{"./..."}, run: test},
	{name: "metrics", folder: "contrib/prometheus", args: []string{"./..."}, run: test},
	{name: "checks of definitions", folder: "crdcheck", args: []string{"./..."}, run: test},
	{name: "the API server for tests", folder: "envtest", args: []string{"./..."}, run: test},
	{name: "clients and informers beside that API server", folder: "test/e2e",
		args: []string{"./..."}, run: test},
	{name: "managedFields that the API server leaves out", folder: "test/e2e", logs: true,
		args: []string{"./wirebench", "-serverdrop.objects=2000", "-serverdrop.rounds=3"}, run: test},
	{name: "own writes beside that client-go's store of written versions", folder: "test/ctrlsuites",
		next: true, logs: true,
		args: []string{"./ownwrites", "-run=^TestTable$", "-short=false", "-ownwrites.table"}, run: test},
	{name: "informers beside faults", folder: "test/lab", args: []string{"./..."}, run: test},
	{name: "client-go's generated code, by API and behaviour", folder: "test/parity",
		args: []string{"-steps", "generate,build,apidiff,probe", "client-go"}, run: clientGo},
	{name: "one tree of generated code, both minors", folder: "test/parity", next: true,
		args: []string{"minors"}, run: minors},
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

// clientGo runs checks of the copy's test/parity against its version.
func clientGo(c *copied, check check) (result, error) {
	return parity(c, check, filepath.Join(c.dir, check.folder), "-release", c.name)
}

// minors compares the two minors: the tree is generated with what this repository requires.
func minors(c *copied, check check) (result, error) {
	return parity(c, check, filepath.FromSlash(check.folder), "-next", c.name, "-next-checkout", c.dir)
}

// parity runs a check of test/parity in its folder, with flags, and counts the lines "check NAME: N of M",
// which it prints.
func parity(c *copied, check check, dir string, flags ...string) (result, error) {
	args := append([]string{"run", ".", "-work", filepath.Join(filepath.Dir(c.dir), "parity")}, flags...)
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
		fmt.Println("  " + lines.Text())
		r.count(lines.Text())
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		r.failures = append(r.failures, fmt.Sprintf("%v\n%s", err, stderr.String()))
	}
	return r, nil
}

var ratio = regexp.MustCompile(`^check .*: (\d+) of (\d+)\b(?:.*, (\d+) excluded$)?`)

// count adds what a line of test/parity counts.
func (r *result) count(line string) {
	m := ratio.FindStringSubmatch(line)
	if m == nil || strings.Contains(line, "(not required)") {
		return
	}
	for i, n := range []*int{&r.passed, &r.all, &r.excluded} {
		number, _ := strconv.Atoi(m[i+1])
		*n += number
	}
}

// String is what passed, and what was excluded.
func (r result) String() string {
	text := fmt.Sprintf("%d of %d", r.passed, r.all)
	if r.excluded > 0 {
		text += fmt.Sprintf(", %d excluded", r.excluded)
	}
	return text
}
