package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// next is the next minor of the Kubernetes modules: their version, and a checkout of kubewright for it.
type next struct{ version, checkout string }

// minors generates each row once, and compiles the code with this minor and with the next one. Only the
// go.mod differs.
func (r *run) minors() error {
	if r.next.version == "" || r.next.checkout == "" {
		return errors.New("minors: set -next and -next-checkout")
	}
	rows, err := readCorpus(filepath.Join(r.here, "corpus.tsv"))
	if err != nil {
		return err
	}
	_, err = checkRows(r, "minors", rows, func(row row) string { return row.name }, r.minorsRow)
	return err
}

// minorsRow returns what to say about a row that passes. A row is excluded if its own packages don't compile
// with the next minor, or if it is refused.
func (r *run) minorsRow(row row) (string, error) {
	like := &scratch{row: row, dir: filepath.Join(r.work, "corpus", "minors-module", row.name), runtime: r.root}
	if err := like.prepare(); err != nil {
		return "", err
	}
	s, err := r.strictRun(row, like, "minors", slices.Concat(row.apis, row.list("ac-extra")))
	if err != nil {
		return "", err
	}
	if s.status != 0 {
		return "", excluded("kubewright refuses it: " + strings.Join(s.messages[:min(1, len(s.messages))], ""))
	}
	if err := s.build(); err != nil {
		return "", fmt.Errorf("with %s: %w", release, err)
	}
	if err := s.raise(r.next, r.with); err != nil {
		return "", err
	}
	own := slices.Concat([]string{"build"}, row.apis, row.list("ac-extra"))
	if _, err := s.run("go", own...); err != nil {
		return "", excluded(fmt.Sprintf("compiles with %s; its own packages don't with %s: %v", release,
			r.next.version, err))
	}
	if err := s.build(); err != nil {
		return "", fmt.Errorf("with %s: %w", r.next.version, err)
	}
	return fmt.Sprintf("%d files compile with both", len(s.files)), nil
}

// raise makes the module require the next minor of the Kubernetes modules, as far as it has been released.
func (s *scratch) raise(next next, with []string) error {
	text, err := s.run("go", "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var mod struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(text, &mod); err != nil {
		return fmt.Errorf("go mod edit -json: %w", err)
	}
	edits := []string{"mod", "edit", "-replace=github.com/kubewright/kubewright=" + next.checkout}
	for _, module := range with {
		edits = append(edits, "-require="+module)
	}
	for _, r := range mod.Require {
		if !strings.HasPrefix(r.Path, "k8s.io/") || r.Version != release {
			continue
		}
		if _, err := moduleDir(r.Path + "@" + next.version); err == nil {
			edits = append(edits, "-require="+r.Path+"@"+next.version)
		}
	}
	_, err = s.run("go", edits...)
	return err
}
