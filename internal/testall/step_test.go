package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestOverlap runs two steps that wait for each other between two that run alone.
func TestOverlap(t *testing.T) {
	left, right := make(chan struct{}), make(chan struct{})
	meet := func(mine, other chan struct{}, err error) func(io.Writer) (counts, error) {
		return func(w io.Writer) (counts, error) {
			fmt.Fprintln(w, "before")
			close(mine)
			<-other
			fmt.Fprintln(w, "after")
			return counts{passed: 3}, err
		}
	}
	alone := func(io.Writer) (counts, error) { return counts{}, nil }
	var out strings.Builder
	sum, failed := runAll(&out, []step{
		{name: "first", run: alone},
		{name: "left", run: meet(left, right, nil), overlaps: true},
		{name: "right", run: meet(right, left, errors.New("broken")), overlaps: true},
		{name: "last", run: func(io.Writer) (counts, error) { return counts{failed: 2}, errors.New("worse") }},
	})
	if sum != (counts{passed: 7, failed: 3}) || !slices.Equal(failed, []string{"right", "last"}) {
		t.Errorf("%+v, %v failed", sum, failed)
	}
	text := regexp.MustCompile(`[0-9.]+ s`).ReplaceAllString(out.String(), "0 s")
	const (
		first   = "=== first\n--- first: ok in 0 s\n"
		ofLeft  = "=== left\nbefore\nafter\n--- left: ok in 0 s, 3 passed, 0 failed, 0 skipped\n"
		ofRight = "=== right\nbefore\nafter\nbroken\n--- right: FAILED in 0 s, 3 passed, 0 failed, 0 skipped\n"
		last    = "=== last\nworse\n--- last: FAILED in 0 s, 0 passed, 2 failed, 0 skipped\n"
	)
	if text != first+ofLeft+ofRight+last && text != first+ofRight+ofLeft+last {
		t.Errorf("shown:\n%s", text)
	}
}

// TestOutputIsKept checks that what a step shows while a program runs, whose output it passes on, isn't lost.
func TestOutputIsKept(t *testing.T) {
	var out strings.Builder
	_, failed := runAll(&out, []step{{name: "it", overlaps: true, run: func(w io.Writer) (counts, error) {
		cat := exec.Command("cat")
		cat.Stdout = w
		in, err := cat.StdinPipe()
		if err != nil {
			return counts{}, err
		}
		if err := cat.Start(); err != nil {
			return counts{}, err
		}
		fmt.Fprintln(w, "from the step")
		fmt.Fprintln(in, "from the program")
		in.Close()
		return counts{passed: 1}, cat.Wait()
	}}})
	if len(failed) > 0 || !strings.Contains(out.String(), "from the step\n") ||
		!strings.Contains(out.String(), "from the program\n") {
		t.Errorf("failed %q, shown:\n%s", failed, out.String())
	}
}
