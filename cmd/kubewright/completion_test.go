package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// complete returns what the shell offers for the last of some words, and cobra's directive.
func complete(t *testing.T, words ...string) (offers []string, directive string) {
	t.Helper()
	var stdout, stderr strings.Builder
	if status := execute(t.Context(), append([]string{"__complete"}, words...), &stdout,
		&stderr); status != 0 {
		t.Fatalf("exit status %d: %s", status, &stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{
		"apis/shop/v1", "apis/shop/v1beta1", "apps", "vendor", ".git", "testdata",
	} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const noSpace, noFiles, files, folders = ":6", ":4", ":0", ":16"
	for _, c := range []struct{ words, offers, directive string }{
		{"generate ", "./apis/ ./apps ./...", noSpace},
		{"generate .", "./apis/ ./apps ./...", noSpace},
		{"check ./api", "./apis/", noSpace},
		{"check ./apis/", "./apis/shop/ ./apis/...", noSpace},
		{"check ./apis/shop/v1 ./apis/shop/v1b", "./apis/shop/v1beta1", noSpace},
		{"check ./apis/..", "./apis/...", noSpace},
		{"check ../", "../" + filepath.Base(dir) + "/ ../...", noSpace},
		{"generate k8s.io/", "", noSpace},
		{"generate ./none/", "./none/...", noSpace},
		{"generate --output-dir ", "", folders},
		{"check --applyconfig-dir=", "", folders},
		{"generate --go-header-file ", "", files},
		{"generate --applyconfig-openapi-schema ", "json", ":8"},
		{"generate --lint-rules ", "known-tags-only require-explicit-disablement", noFiles},
		{"generate --lint-rules known-tags-only,r", "known-tags-only,require-explicit-disablement", noFiles},
		{"generate --lint-rules known-tags-only,", "known-tags-only,require-explicit-disablement", noFiles},
		{"generate --clientset-name ", "", noFiles},
		{"import ", "", files},
		{"import --apis-dir ", "", folders},
		{"import --listers-dir ", "", folders},
		{"init ", "", noFiles},
		{"init --crds-dir ", "", folders},
		{"move ", "", noFiles},
		{"move --kubewright ", "", folders},
		{"version ", "", noFiles},
	} {
		got, directive := complete(t, strings.Split(c.words, " ")...)
		if want := strings.Fields(c.offers); !slices.Equal(got, want) || directive != c.directive {
			t.Errorf("%q: %q %s, want %q %s", c.words, got, directive, want, c.directive)
		}
	}
}
