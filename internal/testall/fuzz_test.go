package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFuzzing(t *testing.T) {
	root := t.TempDir()
	if _, err := fuzzing(root, "100x"); err == nil {
		t.Error("no target, and no error")
	}
	for name, text := range map[string]string{
		"go.mod": "module x\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\n" +
			"func FuzzOne(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\n",
		"a/b_test.go":          "package a\n\nimport \"testing\"\n\nfunc FuzzTwo(f *testing.F) { f.Fatal() }\n",
		"a/c.go":               "package a\n\nfunc FuzzNone() {}\n",
		"a/testdata/d_test.go": "func FuzzThree(f *testing.F) {}\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := fuzzing(root, "100x")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var errs []error
	for _, s := range steps {
		names = append(names, s.name)
		_, err := s.run(io.Discard)
		errs = append(errs, err)
	}
	at := filepath.ToSlash(filepath.Join(root, "a"))
	if want := []string{"fuzz " + at + " FuzzOne", "fuzz " + at + " FuzzTwo"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if errs[0] != nil || errs[1] == nil {
		t.Errorf("%v", errs)
	}
}
