package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// answers are the files that controller-gen writes for a row, one map from names to texts for each time that
// it was asked; dir is the module in which it was asked.
type answers struct {
	dir   string
	files []map[string]string
}

// buildTool builds controller-gen at the version that go.mod pins.
func buildTool(ctx context.Context, cache string) (string, error) {
	tool := filepath.Join(cache, "controller-gen")
	_, err := command(ctx, ".", "go", "build", "-o", tool, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	return tool, err
}

// command runs a command in a folder. Its output is in the error.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err,
			stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// ask asks controller-gen several times. The answers are kept in the cache: a row that doesn't change is
// asked once.
func (r row) ask(ctx context.Context, cache, tool string, asks int) (*answers, error) {
	key := strings.Join(append(append([]string{r.module, r.version}, r.packages...), r.options...), " ")
	a := &answers{dir: filepath.Join(cache, r.name, "module")}
	keyFile := filepath.Join(cache, r.name, "key.txt")
	if known, err := os.ReadFile(keyFile); err != nil || string(known) != key {
		if err := os.RemoveAll(filepath.Join(cache, r.name)); err != nil {
			return nil, err
		}
		if err := r.prepare(ctx, a.dir); err != nil {
			return nil, err
		}
		if err := os.WriteFile(keyFile, []byte(key), 0o644); err != nil {
			return nil, err
		}
	}
	for i := range asks {
		out := filepath.Join(cache, r.name, fmt.Sprintf("answer%d", i+1))
		if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) {
			if err := r.theirs(ctx, a.dir, tool, out); err != nil {
				return nil, err
			}
		}
		files, err := readFolder(out)
		if err != nil {
			return nil, err
		}
		a.files = append(a.files, files)
	}
	return a, nil
}

// prepare writes a module that requires the row's, and whose go.sum has all that its packages import.
func (r row) prepare(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod := fmt.Sprintf("module corpus.example/%s\n\ngo 1.26.0\n\nrequire %s %s\n", r.name, r.module,
		r.version)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return err
	}
	listed, err := command(ctx, dir, "go", append([]string{"list"}, r.packages...)...)
	if err != nil {
		return err
	}
	deps := "package deps\n\nimport (\n"
	for _, pkg := range strings.Fields(listed) {
		if !slices.Contains(strings.Split(pkg, "/"), "internal") {
			deps += fmt.Sprintf("\t_ %q\n", pkg)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "deps.go"), []byte(deps+")\n"), 0o644); err != nil {
		return err
	}
	_, err = command(ctx, dir, "go", "list", "-deps", ".")
	return err
}

// theirs runs controller-gen. Files that it writes in spite of an error don't count.
func (r row) theirs(ctx context.Context, dir, tool, out string) error {
	if _, err := command(ctx, dir, tool, r.arguments(out+".tmp")...); err != nil {
		return errors.Join(err, os.RemoveAll(out+".tmp"))
	}
	return os.Rename(out+".tmp", out)
}

// arguments are those of controller-gen.
func (r row) arguments(out string) []string {
	all := append([]string{"omitToolVersion=true", "ignoreUnexportedFields=true"}, options(r.options)...)
	args := []string{"crd:" + strings.Join(all, ",")}
	for _, p := range r.packages {
		args = append(args, "paths="+p)
	}
	return append(args, "output:crd:dir="+out)
}

// options gives the options of a row the form that controller-gen takes.
func options(names []string) []string {
	var all []string
	for _, name := range names {
		if !strings.Contains(name, "=") {
			name += "=true"
		}
		all = append(all, name)
	}
	return all
}

// readFolder returns the files of a folder by name.
func readFolder(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		files[entry.Name()] = string(text)
	}
	return files, nil
}
