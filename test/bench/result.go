package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// result is what one part measured.
type result struct {
	Part        string
	Environment environment
	Started     time.Time
	Took        time.Duration
	Rows        []*row
}

// save writes the result to a file of the part's name in dir.
func (r result) save(dir string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, r.Part+".json"), text, 0o644)
}

// loadAll reads the saved results of the parts. They must be of one machine, and of commits that don't differ
// in anything that affects a part. changed returns the files, among those that the pathspecs select, in which
// a commit differs from the newest.
func loadAll(
	dir string, parts []part, changed func(commit string, pathspecs []string) ([]string, error),
) (results []result, err error) {
	for _, p := range parts {
		text, err := os.ReadFile(filepath.Join(dir, p.name+".json"))
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.name, err)
		}
		var r result
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("part %s: %w", p.name, err)
		}
		files, err := changed(r.Environment.Commit, p.apart)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", p.name, err)
		}
		if len(files) > 0 {
			return nil, fmt.Errorf(
				"part %s was measured at %s; measure it again: %d files have changed since, such as %s",
				p.name, r.Environment.Commit, len(files), files[0])
		}
		results = append(results, r)
		same := r.Environment
		same.Commit = results[0].Environment.Commit
		if same != results[0].Environment {
			return nil, fmt.Errorf("part %s was measured with %v, part %s with %v",
				results[0].Part, results[0].Environment, p.name, r.Environment)
		}
	}
	return results, nil
}

// changedSince returns a function that returns the files, among those that the pathspecs select, in which the
// checkout differs from a commit.
func changedSince(ctx context.Context) func(commit string, pathspecs []string) ([]string, error) {
	return func(commit string, pathspecs []string) ([]string, error) {
		if strings.HasSuffix(commit, withChanges) {
			return nil, fmt.Errorf("measured at %s, which is in no commit; commit first", commit)
		}
		args := append([]string{"diff", "--name-only", commit, "--", "."}, pathspecs...)
		out, err := output(ctx, root, "git", args...)
		return strings.Fields(out), err
	}
}
