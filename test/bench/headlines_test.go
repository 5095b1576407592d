package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHeadlines: the headlines and the other rows of the page are rows of existing benchmarks. Each chart has
// at least two headlines, of the same unit. README shows two charts, and about half of the headlines.
func TestHeadlines(t *testing.T) {
	if len(headlines) != 21 || len(felt) > 25 {
		t.Errorf("%d headlines and %d other rows, want 21 and at most 25", len(headlines), len(felt))
	}
	rows, units := map[string]bool{}, map[string][]string{}
	forReadme := 0
	for _, h := range slices.Concat(headlines, felt) {
		if h.inReadme {
			forReadme++
		}
		fields := strings.Fields(h.of)
		if len(fields) != 3 {
			t.Errorf("%q: not a package, a benchmark and a unit", h.of)
			continue
		}
		if rows[h.of] {
			t.Errorf("%q: twice", h.of)
		}
		rows[h.of] = true
		top, _, _ := strings.Cut(fields[1], "/")
		if !declares(t, fields[0], "Benchmark"+top) {
			t.Errorf("%s has no Benchmark%s", fields[0], top)
		}
		if h.chart != "" {
			units[h.chart] = append(units[h.chart], fields[2])
		}
	}
	shown := 0
	for _, c := range charts {
		if n := len(units[c.name]); n < 2 || len(slices.Compact(units[c.name])) != 1 {
			t.Errorf("chart %s has %d bars, of the units %v", c.name, n, units[c.name])
		}
		delete(units, c.name)
		if c.inReadme {
			shown++
		}
	}
	if len(units) > 0 {
		t.Errorf("no charts: %v", units)
	}
	if shown != 2 || forReadme != 11 {
		t.Errorf("README shows %d charts and %d headlines", shown, forReadme)
	}
}

func declares(t *testing.T, pkg, function string) bool {
	files, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ` + function + `\(`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if declared.Match(text) {
			return true
		}
	}
	return false
}
