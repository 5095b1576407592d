package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAdditions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "additions.md")
	text := "| where | what | why |\n| --- | --- | --- |\n| `applied/*` | `Extract*: added` | reason |\n" +
		"| `*/fake` | `New?: added` | reason |\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	listed, err := readAdditions(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pkg, change string
		want        bool
	}{
		{"applied/batch/v1", "ExtractJob: added", true},
		{"applied", "ExtractJob: added", false},
		{"applied/batch/v1", "ExtractJob: removed", false},
		{"applied/batch/v1", "JobInterface.Extract: added", false},
		{"clientset/fake", "New1: added", true},
		{"clientset/fake", "New: added", false},
		{"clientset/real", "New1: added", false},
	} {
		if got := listed.has(c.pkg, c.change); got != c.want {
			t.Errorf("%s in %s: listed is %t", c.change, c.pkg, got)
		}
	}
	if err := listed.stale(); err != nil {
		t.Error(err)
	}
	listed = append(listed, addition{pkg: "applied/*", change: "Shared*: added"})
	if err := listed.stale(); err == nil {
		t.Error("an addition that nothing has is not reported")
	}
}

func TestUnnamed(t *testing.T) {
	if got := unnamed("types.go:3:1: type Value has no list", []string{"Value", "Values"}); len(got) != 1 ||
		got[0] != "Values" {
		t.Errorf("unnamed: %v", got)
	}
	if got := unnamed("anything", nil); len(got) != 1 {
		t.Errorf("no names at all must not pass: %v", got)
	}
}

func TestComparison(t *testing.T) {
	listed := additions{{pkg: "informers*/internal", change: "Options: added"}}
	c := listed.read([]byte(`left out: m/broken: no
  m/informers/internal: (compatible) Options: added
  m/informers/internal: (compatible) More: added
  m/clients: Pod.Get: removed
apidiff: 3 of 4 packages have all of the original's (1 incompatible changes, 2 compatible, 0 packages added)
struct tags: 5 of 5 exported struct types unchanged
`), "m")
	if c.summary != "3 of 4 packages have all of the original's" ||
		c.tags != "5 of 5 exported struct types unchanged" || c.listed != 1 || c.leftOut != 1 ||
		len(c.problems) != 2 {
		t.Errorf("%+v", c)
	}
}
