package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// build compiles every package of the copy.
func (g *regenerated) build() error {
	released, err := g.packages()
	if err != nil {
		return err
	}
	cmd := g.command(g.copy, "go", "list", "-e", "-export", "-f",
		"{{if and .GoFiles .Export}}{{.ImportPath}}{{end}}", "./...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		fmt.Printf("  %v\n", err)
	}
	for _, line := range nonEmpty(stderr.String()) {
		if !strings.HasPrefix(line, "#") {
			fmt.Printf("  %s\n", line)
		}
	}
	g.check("packages build", common(released, nonEmpty(string(out))), len(released), "")
	return nil
}

// vet counts the packages without a finding. The release has findings of its own: those in files that both
// copies share don't count, unless a file doesn't type-check.
func (g *regenerated) vet() error {
	released, err := g.packages()
	if err != nil {
		return err
	}
	out, vetErr := g.logged("vet.log", g.command(g.copy, "go", "vet", "./..."))
	own, read := 0, 0
	var bad []string
	for _, line := range nonEmpty(out) {
		m := vetLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		read++
		if m[1] == "" && g.shared(m[2]) {
			own++
			continue
		}
		fmt.Printf("  %s\n", line)
		bad = append(bad, path.Join(clientGoModule, path.Dir(m[2])))
	}
	if vetErr != nil && read == 0 {
		return fmt.Errorf("%w\n%s", vetErr, out)
	}
	good := slices.DeleteFunc(slices.Clone(released), func(p string) bool { return slices.Contains(bad, p) })
	g.check("packages vet", len(good), len(released),
		fmt.Sprintf("%d findings of the release itself left out", own))
	return nil
}

var vetLine = regexp.MustCompile(`^(vet: )?(?:\./)?([^:# ]+\.go):\d+`)

// shared reports whether a file is the same in both copies.
func (g *regenerated) shared(file string) bool {
	a, errA := os.ReadFile(filepath.Join(g.orig, file))
	b, errB := os.ReadFile(filepath.Join(g.copy, file))
	return errors.Join(errA, errB) == nil && bytes.Equal(a, b)
}

// apidiff compares the exported API, struct tags included.
func (g *regenerated) apidiff() error {
	listed, err := readAdditions(filepath.Join(g.root, "docs", "additions.md"))
	if err != nil {
		return err
	}
	out, err := g.logged("apidiff.log", g.command(g.copy, filepath.Join(g.work, "bin", "apidiff"),
		"-missing", "-max", "1000000", "-old", g.orig, "-new", g.copy, "./..."))
	c := listed.read([]byte(out), clientGoModule)
	for _, problem := range c.problems {
		fmt.Printf("  %s\n", problem)
	}
	fmt.Printf("check client-go, apidiff: %s (%d listed additions)\n", c.summary, c.listed)
	fmt.Printf("check client-go, struct tags: %s\n", c.tags)
	if err != nil || len(c.problems) > 0 {
		g.failed = append(g.failed,
			fmt.Errorf("client-go: apidiff: %w", cmp.Or(err, errors.New("additions"))))
	}
	return nil
}

// probe runs one program in both copies. The program prints the behavior of generated code, and probe
// compares the lines.
func (g *regenerated) probe() error {
	var results [2][]string
	for i, root := range []string{g.orig, g.copy} {
		// It is below applyconfigurations so that it may import the internal package.
		dir := filepath.Join(root, "applyconfigurations", "zz_probe")
		if err := errors.Join(
			os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Join(g.here, "testdata", "probe"))),
		); err != nil {
			return err
		}
		program := filepath.Join(g.dir, "probe")
		_, err := g.lines(root, "go", "build", "-o", program, "./applyconfigurations/zz_probe")
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return err
		}
		out, err := exec.Command(program).Output()
		if err != nil {
			fmt.Printf("  the probe in %s: %v\n", filepath.Base(root), err)
		}
		results[i] = nonEmpty(string(out))
	}
	show := func(mark string, of, without []string) {
		shown := 0
		for _, line := range of {
			if shown < 10 && !slices.Contains(without, line) {
				fmt.Printf("  %s %.300s\n", mark, line)
				shown++
			}
		}
	}
	n := common(results[0], results[1])
	if n < len(results[0]) || n < len(results[1]) {
		show("<", results[0], results[1])
		show(">", results[1], results[0])
	}
	g.check("observed behaviours", n, len(results[0]), "")
	return nil
}
