package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestPage checks that the page is made from the results, and that rows are in the order of the programs.
func TestPage(t *testing.T) {
	all, err := readResults(".")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(all.page()) {
		t.Error("docs/programs.md isn't made from results.json: run go run . -only none")
	}
	var tests, started []string
	for _, r := range all.Tests {
		tests = append(tests, r.Program)
	}
	for _, r := range all.Started {
		started = append(started, r.Program)
	}
	for _, rows := range [][]string{tests, started} {
		var want []string
		for _, p := range programs {
			if slices.Contains(rows, p.name) {
				want = append(want, p.name)
			}
		}
		if len(rows) == 0 || !slices.Equal(rows, want) {
			t.Errorf("rows of %q, want %q", rows, want)
		}
	}
}

// TestPut checks that a row replaces that of the same program, and that others stay.
func TestPut(t *testing.T) {
	name := func(r testsRow) string { return r.Program }
	var rows []testsRow
	for _, row := range []testsRow{
		{Program: "kro"}, {Program: "lasso"}, {Program: "external-attacher"}, {Program: "lasso", Lines: 3},
	} {
		rows = put(rows, row, name)
	}
	want := []testsRow{{Program: "external-attacher"}, {Program: "lasso", Lines: 3}, {Program: "kro"}}
	if !slices.Equal(rows, want) {
		t.Errorf("%+v, want %+v", rows, want)
	}
}

// TestCells checks the cells of a program that was started.
func TestCells(t *testing.T) {
	row := startedRow{Program: "kro", Kinds: []string{"Pod", "Node"}, About: "import path",
		Raised: []cost{{2, 300, 90}, {9, 100, 100}, {1, 200, 110}},
		Moved:  []cost{{1, 150, 80}, {.5, 150, 80}, {4, 150, 80}}}
	text := string(results{Started: []startedRow{row}}.page())
	const want = "\n| kro | Pod, Node | import path | 2.00 → 1.00 (.50) | 200 → 150 (.75) | 100 → 80 (.80) |\n"
	if !strings.Contains(text, want) {
		t.Errorf("no line%sin\n%s", want, text)
	}
}

// TestCostOf checks that a process has used CPU and memory: this one.
func TestCostOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux has it")
	}
	c, err := costOf(os.Getpid())
	if err != nil || c.Peak < 1 || c.Peak > 1e5 || c.CPU > 1e5 {
		t.Errorf("%+v, %v", c, err)
	}
}
