package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCommon(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want int
	}{
		{nil, nil, 0},
		{[]string{"x", "y"}, []string{"y", "z"}, 1},
		{[]string{"x", "x"}, []string{"x", "x", "x"}, 2},
		{[]string{"x"}, []string{"x", "x"}, 1},
	} {
		if got := common(c.a, c.b); got != c.want {
			t.Errorf("%v and %v share %d lines", c.a, c.b, got)
		}
	}
}

func TestVetLine(t *testing.T) {
	for line, want := range map[string][]string{
		"./kubernetes/a.go:3:1: unreachable code":  {"", "kubernetes/a.go"},
		"tools/b_test.go:13:2: copies lock":        {"", "tools/b_test.go"},
		"vet: ./kubernetes/c.go:3:1: undefined: x": {"vet: ", "kubernetes/c.go"},
		"# k8s.io/client-go/kubernetes":            nil,
	} {
		m := vetLine.FindStringSubmatch(line)
		if m != nil {
			m = m[1:]
		}
		if !slices.Equal(m, want) {
			t.Errorf("%q: %q", line, m)
		}
	}
}

// TestServedVersions expects the order of the calls, not that of the imports.
func TestServedVersions(t *testing.T) {
	orig := t.TempDir()
	dir := filepath.Join(orig, "kubernetes", "scheme")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "package scheme\n\nimport (\n\tappsv1 \"k8s.io/api/apps/v1\"\n\tcorev1 \"k8s.io/api/core/v1\"\n" +
		"\truntime \"k8s.io/apimachinery/pkg/runtime\"\n)\n\n" +
		"var builder = runtime.SchemeBuilder{\n\tcorev1.AddToScheme,\n\tappsv1.AddToScheme,\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "register.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := (&regenerated{orig: orig}).servedVersions()
	if err != nil || !slices.Equal(got, []string{"core/v1", "apps/v1"}) {
		t.Errorf("served: %v, %v", got, err)
	}
}
