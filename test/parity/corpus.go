package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is one line of corpus.tsv: an API repository, or a part of one.
type row struct {
	name, module, version string
	apis                  []string // import paths of the API packages
	wildcard              []string // the same as patterns, as the repository's maintainer would write them
	applyDir              string   // folder of the apply configurations
	flags                 map[string]string
	// refused is set if the generators must reject these types.
	refused bool
}

// corpus generates every row twice, in two scratch modules of the same path, with upstream's tools and with
// ours, and compares the exported API. If upstream's code doesn't compile, ours still must.
func (r *run) corpus() error {
	rows, err := readCorpus(filepath.Join(r.here, "corpus.tsv"))
	if err != nil {
		return err
	}
	listed, err := readAdditions(filepath.Join(r.root, "docs", "additions.md"))
	if err != nil {
		return err
	}
	ran, err := checkRows(r, "corpus", rows, func(row row) string { return row.name },
		func(row row) (string, error) { return r.corpusRow(row, listed) })
	if ran < len(rows) || slices.Contains(r.steps, "strict") {
		return err // only all rows together, each complete, use every listed addition
	}
	return errors.Join(err, listed.stale())
}

// corpusRow returns a description of a row that passes, or an error that describes what is wrong.
func (r *run) corpusRow(row row, listed additions) (string, error) {
	ours := &scratch{row: row, dir: filepath.Join(r.work, "corpus", "ours", row.name), bin: r.ours,
		runtime: r.root}
	theirs := &scratch{row: row, dir: filepath.Join(r.work, "corpus", "upstream", row.name), bin: r.upstream,
		runtime: r.root}
	if err := ours.prepare(); err != nil {
		return "", err
	}
	if slices.Contains(r.steps, "strict") {
		return r.strictRow(row, ours, nil)
	}
	err := ours.generate()
	switch {
	case row.refused && err == nil:
		return "", errors.New("ours makes something of types that can't have clients")
	case row.refused:
		if missing := unnamed(err.Error(), row.types(ours.dir)); len(missing) > 0 {
			return "", fmt.Errorf("the error doesn't name %s: %w", strings.Join(missing, ", "), err)
		}
		strict, err := r.strictRow(row, ours, nil)
		return "refused, each type named; " + strict, err
	case err != nil:
		return "", fmt.Errorf("ours: %w", err)
	}
	if err := ours.build(); err != nil {
		return "", fmt.Errorf("ours: %w", err)
	}
	if err := theirs.copyModule(ours); err != nil {
		return "", err
	}
	if err := theirs.generate(); err != nil {
		return "", fmt.Errorf("upstream: %w", err)
	}
	// All of upstream's code that compiles is compared.
	result, err := r.compare(theirs, ours, listed)
	if err != nil {
		return "", err
	}
	strict, err := r.strictRow(row, ours, theirs)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (%.1f s, upstream %.1f s); %s", result, ours.took.Seconds(), theirs.took.Seconds(),
		strict), nil
}

// readCorpus reads the columns name, module, version, API packages, apply configurations (the eighth), flags
// (the ninth) and wildcard (the last).
func readCorpus(file string) ([]row, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 {
			continue // the heading
		}
		if len(f) != 16 {
			return nil, fmt.Errorf("%s:%d: %d columns", file, i+1, len(f))
		}
		dir := filepath.Base(f[7])
		if f[7] == "" {
			dir = "applyconfiguration"
		}
		flags := map[string]string{}
		for _, word := range strings.Fields(f[8]) {
			name, value, _ := strings.Cut(word, "=")
			flags[name] = value
		}
		rows = append(rows, row{
			name: f[0], module: f[1], version: f[2], apis: strings.Fields(f[3]), applyDir: dir, flags: flags,
			wildcard: strings.Fields(f[15]), refused: f[0] == "kyverno-cli",
		})
	}
	return rows, nil
}

// has reports whether the row has a flag.
func (r row) has(flag string) bool {
	_, ok := r.flags[flag]
	return ok
}

// list returns the value of a flag, split at commas.
func (r row) list(flag string) []string {
	if r.flags[flag] == "" {
		return nil
	}
	return strings.Split(r.flags[flag], ",")
}

// folders returns the folders that the generators write to.
func (r row) folders() []string {
	return []string{"clientset", "listers", "informers", r.applyDir}
}
