package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// counts of tests, subtests included.
type counts struct {
	passed, failed, skipped int
	// cpu is what go test took, with the programs that it started, among them the compiler. On Windows, it is
	// what go test itself took.
	cpu time.Duration
}

func (c *counts) add(d counts) {
	c.passed += d.passed
	c.failed += d.failed
	c.skipped += d.skipped
	c.cpu += d.cpu
}

// none reports whether there were no tests.
func (c counts) none() bool { return c.passed+c.failed+c.skipped == 0 }

// String returns "" for a step without tests.
func (c counts) String() string {
	if c.none() {
		return ""
	}
	text := fmt.Sprintf(", %d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
	if c.cpu > 0 {
		text += fmt.Sprintf(", %.0f s of CPU", c.cpu.Seconds())
	}
	return text
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// goTest runs the tests of packages of the module in dir, counts them, and shows the output of failing tests
// and the reasons of skipped ones.
func goTest(dir string, args []string, packages ...string) func(io.Writer) (counts, error) {
	return func(w io.Writer) (counts, error) {
		cmd := exec.Command("go", slices.Concat([]string{"test", "-json"}, args, packages)...)
		cmd.Dir = dir
		// At its end each program with the race detector waits a second for late reports, by default.
		cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=100 "+os.Getenv("GORACE"))
		cmd.Stderr = w
		out, err := cmd.StdoutPipe()
		if err != nil {
			return counts{}, err
		}
		if err := cmd.Start(); err != nil {
			return counts{}, err
		}
		c, err := count(out, w)
		err = errors.Join(err, cmd.Wait())
		if ended := cmd.ProcessState; ended != nil {
			c.cpu = ended.UserTime() + ended.SystemTime()
		}
		return c, err
	}
}

// count reads the events of go test -json. It keeps a test's output until the test ends, and shows it only if
// the test failed or was skipped, or if its package failed before it ended: after a time-out, or a panic of
// another goroutine, its tests have no event.
func count(r io.Reader, w io.Writer) (counts, error) {
	var c counts
	kept := map[[2]string]*strings.Builder{}
	dec := json.NewDecoder(r)
	for {
		var e event
		if err := dec.Decode(&e); err == io.EOF {
			return c, nil
		} else if err != nil {
			return c, fmt.Errorf("go test -json: %w", err)
		}
		k := [2]string{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			if kept[k] == nil {
				kept[k] = &strings.Builder{}
			}
			kept[k].WriteString(e.Output)
			continue
		case "pass":
			if e.Test != "" {
				c.passed++
			} else {
				fmt.Fprintf(w, "ok   %s %.1f s\n", e.Package, e.Elapsed)
			}
		case "fail":
			if e.Test != "" {
				c.failed++
			} else {
				for _, test := range unended(kept, e.Package) {
					c.failed++
					show(w, "FAIL", test, kept[test])
					delete(kept, test)
				}
			}
			show(w, "FAIL", k, kept[k])
		case "skip":
			if e.Test != "" {
				c.skipped++
				show(w, "skip", k, kept[k])
			}
		case "build-fail":
			show(w, "FAIL", k, kept[k])
		default:
			continue
		}
		delete(kept, k)
	}
}

// unended returns the tests of a package of which output is kept, by name.
func unended(kept map[[2]string]*strings.Builder, pkg string) [][2]string {
	var tests [][2]string
	for k := range kept {
		if k[0] == pkg && k[1] != "" {
			tests = append(tests, k)
		}
	}
	slices.SortFunc(tests, func(a, b [2]string) int { return strings.Compare(a[1], b[1]) })
	return tests
}

func show(w io.Writer, verdict string, k [2]string, output *strings.Builder) {
	fmt.Fprintf(w, "%s %s %s\n", verdict, k[0], k[1])
	if output != nil {
		io.WriteString(w, output.String())
	}
}
