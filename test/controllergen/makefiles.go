package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// makefiles runs controller-gen's lines of Makefiles, and the command that docs/migration.md translates each
// to, in copies of their repositories. It prints how many lines give the same files, and reports whether all
// do.
func makefiles(ctx context.Context, cache, tool string) (bool, error) {
	text, err := os.ReadFile("testdata/makefiles.tsv")
	if err != nil {
		return false, err
	}
	kubewright := filepath.Join(cache, "kubewright")
	if _, err := command(ctx, ".", "go", "build", "-o", kubewright,
		"github.com/kubewright/kubewright/cmd/kubewright"); err != nil {
		return false, err
	}
	same, all := 0, 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 4 {
			return false, fmt.Errorf("testdata/makefiles.tsv: %q has %d cells, not 4", line, len(cells))
		}
		m := makefile{cells[0], cells[1], strings.Fields(cells[2]), strings.Fields(cells[3])}
		differ, err := m.compare(ctx, tool, kubewright)
		if err != nil {
			return false, fmt.Errorf("%s: %w", m.module, err)
		}
		if all++; len(differ) == 0 {
			same++
		}
		for _, name := range differ {
			fmt.Printf("%s: %s differs\n", m.module, name)
		}
	}
	fmt.Printf("lines of Makefiles with the same files: %d of %d\n", same, all)
	return same == all, nil
}

// makefile is a line of a repository's Makefile: what it gives controller-gen, what it would give kubewright,
// and where both write definitions.
type makefile struct {
	module, dir  string
	theirs, ours []string
}

// compare returns the names of the files that differ.
func (m makefile) compare(ctx context.Context, tool, kubewright string) ([]string, error) {
	var made [2]map[string]string
	for i, run := range [][]string{append([]string{tool}, m.theirs...),
		append([]string{kubewright, "generate"}, m.ours...)} {
		work, err := os.MkdirTemp("", "makefiles")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(work)
		if err := m.repository(ctx, work); err != nil {
			return nil, err
		}
		if _, err := command(ctx, work, run[0], run[1:]...); err != nil {
			return nil, err
		}
		if made[i], err = readFolder(filepath.Join(work, m.dir)); err != nil {
			return nil, err
		}
		if len(made[i]) == 0 {
			return nil, fmt.Errorf("%s wrote no file to %s", filepath.Base(run[0]), m.dir)
		}
	}
	var differ []string
	for name, text := range made[0] {
		_, ours, _ := strings.Cut(made[1][name], "---\n")
		if withoutTool(text) != "---\n"+ours {
			differ = append(differ, name)
		}
		delete(made[1], name)
	}
	return slices.Sorted(slices.Values(slices.AppendSeq(differ, maps.Keys(made[1])))), nil
}

// repository copies the module to a folder, without its definitions, as its repository has it.
func (m makefile) repository(ctx context.Context, work string) error {
	out, err := command(ctx, work, "go", "mod", "download", "-json", m.module)
	if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &downloaded); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	if err := os.CopyFS(work, os.DirFS(downloaded.Dir)); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(work, m.dir))
}

// withoutTool removes the annotation with controller-gen's version, and the line above it if it was the only
// one.
func withoutTool(text string) string {
	return onlyAnnotation.ReplaceAllString(annotation.ReplaceAllString(text, ""), "$1")
}

var (
	annotation     = regexp.MustCompile(`(?m)^    controller-gen\.kubebuilder\.io/version: .*\n`)
	onlyAnnotation = regexp.MustCompile(`(?m)^  annotations:\n(  [^ ])`)
)
