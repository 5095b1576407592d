package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// counts of tests, subtests included.
type counts struct{ passed, failed, skipped int }

func (c *counts) add(d counts) {
	c.passed += d.passed
	c.failed += d.failed
	c.skipped += d.skipped
}

// String returns "" for a step without tests.
func (c counts) String() string {
	if c == (counts{}) {
		return ""
	}
	return fmt.Sprintf(", %d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// goTest runs the tests of the module in dir, counts them, and shows the output of failing tests and the
// reasons of skipped ones.
func goTest(dir string, args []string) func(io.Writer) (counts, error) {
	return func(w io.Writer) (counts, error) {
		cmd := exec.Command("go", append(append([]string{"test", "-json"}, args...), "./...")...)
		cmd.Dir = dir
		cmd.Stderr = w
		out, err := cmd.StdoutPipe()
		if err != nil {
			return counts{}, err
		}
		if err := cmd.Start(); err != nil {
			return counts{}, err
		}
		c, err := count(out, w)
		return c, errors.Join(err, cmd.Wait())
	}
}

// count reads the events of go test -json. It keeps a test's output until the test ends, and shows it only if
// the test failed or was skipped.
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

func show(w io.Writer, verdict string, k [2]string, output *strings.Builder) {
	fmt.Fprintf(w, "%s %s %s\n", verdict, k[0], k[1])
	if output != nil {
		io.WriteString(w, output.String())
	}
}
