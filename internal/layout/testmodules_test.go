package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestModulesForTests checks that each module below test/ has a row in the table of its README, in order.
func TestModulesForTests(t *testing.T) {
	text, err := os.ReadFile("../../test/README.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`(?m)^\| \[(\w+)\]\((\w+)\) \|`)
	var rows []string
	for _, row := range link.FindAllStringSubmatch(string(text), -1) {
		if row[1] != row[2] {
			t.Errorf("the row of %s links %s", row[1], row[2])
		}
		rows = append(rows, row[1])
	}
	files, err := filepath.Glob("../../test/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, file := range files {
		modules = append(modules, filepath.Base(filepath.Dir(file)))
	}
	if !slices.Equal(rows, modules) {
		t.Errorf("test/README.md has rows for %q, the modules are %q", rows, modules)
	}
}
