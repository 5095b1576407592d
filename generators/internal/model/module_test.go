package model

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFindModule(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "go.mod"),
		"// a comment\nmodule \"example.com/a\" // another\n\ngo 1.26\n")
	write(t, filepath.Join(root, "a", "nested", "go.mod"), "module example.com/nested/v2\n")
	write(t, filepath.Join(root, "empty", "go.mod"), "go 1.26\n")
	if err := os.MkdirAll(filepath.Join(root, "a", "odd", "go.mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, module, importPath string }{
		{"a", "example.com/a", "example.com/a"},
		{"a/pkg/client", "example.com/a", "example.com/a/pkg/client"},
		{"a/odd", "example.com/a", "example.com/a/odd"},
		{"a/nested/x/../pkg", "example.com/nested/v2", "example.com/nested/v2/pkg"},
	} {
		dir := filepath.Join(root, c.dir)
		module, err := FindModule(t.Context(), dir)
		if err != nil || module.Path != c.module {
			t.Errorf("%s: module %v, %v; want %s", c.dir, module, err, c.module)
		}
		if p, err := ImportPath(t.Context(), dir); err != nil || p != c.importPath {
			t.Errorf("%s: import path %q, %v; want %s", c.dir, p, err, c.importPath)
		}
	}
	for _, dir := range []string{".", "nowhere/else"} {
		if _, err := ImportPath(t.Context(), filepath.Join(root, dir)); !errors.Is(err, ErrNoModule) {
			t.Errorf("%s: error %v, want ErrNoModule", dir, err)
		}
	}
	if _, err := FindModule(t.Context(), filepath.Join(root, "empty")); err == nil ||
		errors.Is(err, ErrNoModule) {
		t.Errorf("a go.mod without a module line: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FindModule(ctx, root); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFindModuleOfWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n")
	t.Chdir(dir)
	if p, err := ImportPath(t.Context(), "pkg/client"); err != nil || p != "example.com/m/pkg/client" {
		t.Errorf("got %q, %v", p, err)
	}
}

// TestLoadStops checks that Load returns an error, and no incomplete API, if the context
// ends.
func TestLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if api, problems := Load(ctx, k8sConfig()); api != nil || !problems.Fatal() {
		t.Errorf("got %v, %v", api, problems)
	}
}

func TestLoadNoModule(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	for _, cfg := range []Config{
		{Dir: t.TempDir(), Inputs: []Input{{Pattern: "./..."}}},
		{Dir: filepath.Join(t.TempDir(), "none"), Inputs: []Input{{Pattern: "./..."}}},
		{},
	} {
		if api, problems := Load(t.Context(), cfg); api != nil || len(problems) != 1 || problems[0].Warning {
			t.Errorf("%v: got %v, %v", cfg, api, problems)
		}
	}
}
