package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// row is a repository: its module, the packages to name, how many kinds these have, and controller-gen's
// options.
type row struct {
	name, module, version string
	kinds                 int
	packages, options     []string
}

// readCorpus reads the table of repositories.
func readCorpus(path string) ([]row, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if i == 0 {
			continue
		}
		if len(cells) != 6 {
			return nil, fmt.Errorf("%s:%d:1: %d cells, not 6; separate them by tabs", path, i+1, len(cells))
		}
		kinds, err := strconv.Atoi(cells[3])
		if err != nil {
			return nil, fmt.Errorf("%s:%d:1: the number of kinds: %w", path, i+1, err)
		}
		r := row{name: cells[0], module: cells[1], version: cells[2], kinds: kinds,
			options: strings.Fields(cells[5])}
		for _, p := range strings.Fields(cells[4]) {
			r.packages = append(r.packages, r.module+"/"+p)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// has reports whether the row gives controller-gen an option.
func (r row) has(option string) bool { return slices.Contains(r.options, option) }

// readDiffer reads the names of the files that may differ: "row/file", followed by the reason.
func readDiffer(path string) (map[string]bool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	differ := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, " "); name != "" && !strings.HasPrefix(line, "#") {
			differ[strings.TrimSpace(name)] = true
		}
	}
	return differ, nil
}
