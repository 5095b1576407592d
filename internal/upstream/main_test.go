package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReadVersions(t *testing.T) {
	got, err := readVersions("# comment\n\nv0.37.2\nv0.38.0-alpha.2 go1.27.1\n")
	if want := []version{
		{"v0.37.2", "v0.37", ""}, {"v0.38.0-alpha.2", "v0.38", "go1.27.1"},
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, wrong := range []string{"v0.37", "0.37.2", "v0.37.2 go1.26.0 go1.27.0", "#v0.37.2"} {
		if got, err := readVersions(wrong); err == nil {
			t.Errorf("%s: %v", wrong, got)
		}
	}
}

func TestTableIn(t *testing.T) {
	output := "=== RUN   TestA\n    a_test.go:1: | a | b |\n    a_test.go:2: medians\n" +
		"    a_test.go:3: | 1 | 2 |\n--- PASS: TestA (0.00s)\n"
	if got, want := tableIn(output), "| a | b |\n| 1 | 2 |\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCount checks that what is excluded isn't counted as passed.
func TestCount(t *testing.T) {
	var r result
	for _, line := range []string{
		"check build: 3 of 4 packages", "check probe: 1 of 2 (not required)",
		"  excluded: volcano: check it: 1 of 2",
		"check minors: 12 of 12 rows, 5 excluded",
	} {
		r.count(line)
	}
	if got, want := r.String(), "15 of 16, 5 excluded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLayOver checks which files are laid over a copy and how they are counted.
func TestLayOver(t *testing.T) {
	from, c := t.TempDir(), &copied{dir: t.TempDir()}
	for name, text := range map[string]string{
		filepath.Join(from, "a", "new.go"): "1\n2\n", filepath.Join(from, "old.go"): "1\n2\n3\n",
		filepath.Join(c.dir, "old.go"): "before\n", filepath.Join(c.dir, "kept.go"): "kept\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{from, filepath.Join(from, "missing")} {
		if err := c.layOver(folder); err != nil {
			t.Fatal(err)
		}
	}
	if want := (laid{files: 2, lines: 5, replaced: 1}); c.laid != want {
		t.Errorf("%+v, want %+v", c.laid, want)
	}
	for name, want := range map[string]string{"a/new.go": "1\n2\n", "old.go": "1\n2\n3\n", "kept.go": "kept\n"} {
		if text, err := os.ReadFile(filepath.Join(c.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}
