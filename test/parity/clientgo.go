package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const clientGoModule = "k8s.io/client-go"

// clientGoFolders are client-go's folders of generated code.
var clientGoFolders = []string{"kubernetes", "listers", "informers", "applyconfigurations"}

// regenerated is client-go twice: as released, and with its generated files replaced by those of our
// generators, on our runtime. The hand-written files, expansions and tests among them, are the same in both.
type regenerated struct {
	*run
	dir, orig, copy string
	logs            string
	failed          []error
}

// steps are the parts of the check, in order. The first leaves everything that the others need in the scratch
// folder, so that each can be run alone.
var steps = []struct {
	name string
	run  func(*regenerated) error
}{
	{"generate", (*regenerated).generate},
	{"build", (*regenerated).build},
	{"vet", (*regenerated).vet},
	{"apidiff", (*regenerated).apidiff},
	{"probe", (*regenerated).probe},
	{"test", (*regenerated).test},
}

// clientGo regenerates client-go in place and compares it with the release.
func (r *run) clientGo() error {
	dir := filepath.Join(r.work, "client-go")
	g := &regenerated{run: r, dir: dir, orig: filepath.Join(dir, "orig"),
		copy: filepath.Join(dir, "client-go"), logs: filepath.Join(dir, "logs")}
	if err := os.MkdirAll(g.logs, 0o755); err != nil {
		return err
	}
	for _, step := range steps {
		if len(r.steps) > 0 && !slices.Contains(r.steps, step.name) {
			continue
		}
		start := time.Now()
		if err := step.run(g); err != nil {
			return fmt.Errorf("client-go: %s: %w", step.name, err)
		}
		fmt.Printf("# %s took %.0f s\n", step.name, time.Since(start).Seconds())
	}
	return errors.Join(g.failed...)
}

// check prints one result.
func (g *regenerated) check(name string, n, m int, remark string) {
	if remark != "" {
		remark = " (" + remark + ")"
	}
	fmt.Printf("check client-go, %s: %d of %d%s\n", name, n, m, remark)
	if n != m || m == 0 {
		g.failed = append(g.failed, fmt.Errorf("client-go: %s: %d of %d", name, n, m))
	}
}

// command returns a command that runs in dir, which is one of the two copies.
func (g *regenerated) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	flags := ""
	if dir == g.copy || len(g.with) > 0 {
		flags = "-mod=mod" // it has other requirements than the release
	}
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS="+flags)
	return cmd
}

// lines runs a command and returns the lines that it prints.
func (g *regenerated) lines(dir, name string, args ...string) ([]string, error) {
	cmd := g.command(dir, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.String())
	}
	return nonEmpty(string(out)), nil
}

// logged runs a command, writes its output to a file, and returns the output whether or not the command
// succeeds.
func (g *regenerated) logged(log string, cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err := os.WriteFile(filepath.Join(g.logs, log), out, 0o644); err != nil {
		return "", err
	}
	return string(out), err
}

// packages returns the release's packages that have more than tests.
func (g *regenerated) packages() ([]string, error) {
	return g.lines(g.orig, "go", "list", "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
}

// generatedFiles returns the paths of a copy's generated files, relative to it.
func generatedFiles(root string) ([]string, error) {
	var files []string
	for _, folder := range clientGoFolders {
		err := filepath.WalkDir(filepath.Join(root, folder),
			func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
					return err
				}
				text, err := os.ReadFile(path)
				if err == nil && generatedHeader.Match(text) {
					rel, _ := filepath.Rel(root, path)
					files = append(files, filepath.ToSlash(rel))
				}
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}

var generatedHeader = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func nonEmpty(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"),
		func(l string) bool { return strings.TrimSpace(l) == "" })
}

// common returns how many lines two lists share, regardless of order.
func common(a, b []string) int {
	count := map[string]int{}
	for _, line := range a {
		count[line]++
	}
	n := 0
	for _, line := range b {
		if count[line] > 0 {
			count[line]--
			n++
		}
	}
	return n
}
