package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

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
	// failed is set if a test failed. test is its name, empty if it ended the whole process, and law the last
	// line that it said.
	failed    bool
	test, law string
	// seed is that of the test, empty if it has none.
	seed string
	took time.Duration
	// wrong is why the finding doesn't count: the test fails without the bug, too.
	wrong string
}

// found reports whether the bug was found.
func (f finding) found() bool { return f.failed && f.wrong == "" }

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
		fmt.Fprintf(out, "%s: %.1f s, %s\n    %s%s\n", f.name, f.took.Seconds(), f.test, f.law, f.wrong)
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
		return f
	case strings.Contains(out, "panic: test timed out"):
		f.wrong = "the tests take longer than a minute"
		return f
	}
	f.failed = true
	f.test, f.seed, f.law = failure(out)
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

var (
	failed   = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	message  = regexp.MustCompile(`(?m)^( *)\w+\.go:\d+: (.+)$`)
	panicked = regexp.MustCompile(`(?m)^(?:panic|fatal error|WARNING): (.+)$`)
	seed     = regexp.MustCompile(`seed[ _](\d+)`)
)

// failure returns the innermost test that failed first, its seed if it has one, and the last line that it
// said.
func failure(out string) (test, number, law string) {
	for _, match := range failed.FindAllStringSubmatch(out, -1) {
		if test != "" && !strings.HasPrefix(match[1], test+"/") {
			break
		}
		test = match[1]
	}
	_, said, _ := strings.Cut(out, "--- FAIL: "+test+" ")
	said, _, _ = strings.Cut(said, "--- FAIL: ")
	if match := seed.FindStringSubmatch(test + said); match != nil {
		number = match[1]
	}
	indent := ""
	for _, match := range message.FindAllStringSubmatch(said, -1) {
		// What a test logs comes before. What is indented differently is of another test.
		if indent == "" {
			indent = match[1]
		}
		if match[1] != indent {
			break
		}
		law = match[2]
	}
	if match := panicked.FindStringSubmatch(out); match != nil && law == "" {
		law = match[1]
	}
	return test, number, law
}

// exactly returns the pattern of one test.
func exactly(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
