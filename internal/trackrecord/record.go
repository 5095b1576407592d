package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// root is the folder below which all bugs are planted.
const root = "runtime"

// entry is a bug that others really had.
type entry struct {
	name string
	bug  planted.Bug
	// nightly bugs are planted each night.
	nightly bool
}

// entries returns all bugs.
func entries() []entry { return slices.Concat(reading, telling, storing, queueing, facade) }

// sources plants all bugs in a copy of the sources.
func sources(dir, root string) (planted.Sources, error) {
	bugs := map[string]planted.Bug{}
	for _, e := range entries() {
		bugs[e.name] = e.bug
	}
	return planted.Plant(dir, root, bugs)
}

// finding is how a bug was found.
type finding struct {
	entry
	failure
	took time.Duration
	// wrong is why the bug isn't found, or why that doesn't count: the test fails without the bug, too, or tells
	// of something else.
	wrong string
}

// look plants the bugs one after another and has their rigs look for them.
func look(out io.Writer, dir string, chosen []entry) ([]finding, error) {
	s, err := sources(dir, root)
	if err != nil {
		return nil, err
	}
	built := map[string]planted.Tests{}
	var findings []finding
	for _, e := range chosen {
		r := rigs[e.bug.Rig]
		tests, ok := built[r.build()]
		if !ok {
			start := time.Now()
			if tests, err = s.Build(r.folder, r.flags...); err != nil {
				return nil, err
			}
			built[r.build()] = tests
			fmt.Fprintf(out, "built the tests of %s in %.0f s\n", r.build(), time.Since(start).Seconds())
		}
		f := r.find(tests, e)
		findings = append(findings, f)
		fmt.Fprintf(out, "%s: %.1f s, %s\n    %s\n", f.name, f.took.Seconds(), f.test,
			strings.Trim(f.law+"; "+f.wrong, "; "))
	}
	return findings, nil
}

// find runs the tests with a bug, then the test that failed without it.
func (r rig) find(tests planted.Tests, e entry) finding {
	f := finding{entry: e}
	start := time.Now()
	out, err := tests.RunIn(r.folder, e.name, "^("+r.tests+")$", r.args...)
	f.took = time.Since(start)
	switch {
	case err == nil:
		f.wrong = "no test fails"
		return f
	case strings.Contains(out, "panic: test timed out"):
		f.wrong = "the tests take longer than a minute"
		return f
	}
	f.failure = read(out)
	f.wrong = f.misnames(e.bug.Guarantees)
	pattern := "^(" + r.tests + ")$"
	if f.test != "" {
		pattern = exactly(f.test)
	}
	out, err = tests.RunIn(r.folder, "", pattern, slices.Concat(r.args, []string{"-test.v"})...)
	if err != nil || !strings.Contains(out, "--- PASS: "+f.test) {
		f.wrong = "doesn't pass without the bug: " + out
	}
	return f
}

// failure is what a failed test says.
type failure struct {
	// test is its name, empty if it ended the whole process, seed its seed, empty if it has none.
	test, seed string
	// law is the line that names a guarantee, or else the last line. ended is set if it is the Go runtime's.
	law   string
	ended bool
}

// misnames returns why the failure isn't that of a bug which breaks the guarantees.
func (f failure) misnames(broken []guarantee.Guarantee) (reason string) {
	switch named := guarantee.Named(f.law); {
	case named == "" && !f.ended:
		return "the failure names no guarantee"
	case named != "" && !slices.Contains(broken, named):
		return fmt.Sprintf("the failure names the guarantee %q, the bug is said to break %q", named, broken)
	}
	return ""
}

var (
	failed   = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	message  = regexp.MustCompile(`(?m)^( *)\w+\.go:\d+: (.+)$`)
	panicked = regexp.MustCompile(`(?m)^(?:fatal error|panic: deadlock|WARNING: DATA RACE).*$`)
	seed     = regexp.MustCompile(`seed[ _](\d+)`)
)

// read reads the failure of the innermost test that failed first.
func read(out string) (f failure) {
	for _, match := range failed.FindAllStringSubmatch(out, -1) {
		if f.test != "" && !strings.HasPrefix(match[1], f.test+"/") {
			break
		}
		f.test = match[1]
	}
	_, said, _ := strings.Cut(out, "--- FAIL: "+f.test+" ")
	said, _, _ = strings.Cut(said, "--- FAIL: ")
	if match := seed.FindStringSubmatch(f.test + said); match != nil {
		f.seed = match[1]
	}
	indent := ""
	for _, match := range message.FindAllStringSubmatch(said, -1) {
		// What a test logs comes before. What is indented differently is of another test.
		if indent == "" {
			indent = match[1]
		}
		if match[1] != indent || guarantee.Named(f.law) != "" {
			break
		}
		f.law = match[2]
	}
	if line := panicked.FindString(out); line != "" && guarantee.Named(f.law) == "" {
		_, f.law, _ = strings.Cut(line, ": ")
		f.ended = true
	}
	return f
}

// exactly returns the pattern of one test.
func exactly(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
