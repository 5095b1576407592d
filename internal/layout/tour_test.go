package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tourRow matches a row of the tour's table: the pattern for -run, and the file.
var tourRow = regexp.MustCompile(
	`^\| [^| ][^|]* \| ([^|]+) \| \[(\w+\.go)\]\((\w+\.go)\) \| [^| ][^|]* \| [^| ][^|]* \|$`)

// TestTour checks that each file of examples/tour has a row in the table of its README, that the row's
// pattern for -run selects the tests of that file and no others, and that a file has 30 to 100 lines.
func TestTour(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "tour")
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if row := tourRow.FindStringSubmatch(strings.TrimSpace(line)); row != nil && row[2] == row[3] {
			run[row[2]] = strings.Trim(row[1], "`")
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{} // the file of each
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		if n := strings.Count(string(source), "\n"); n < 30 || n > 100 {
			t.Errorf("%s has %d lines, want 30 to 100", base, n)
		}
		if run[base] == "" {
			t.Errorf("%s has no row in the table", base)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && isTest(f.Name.Name) {
				tests[f.Name.Name] = base
			}
		}
	}
	if len(run) != len(files) || len(tests) < len(files)-1 {
		t.Errorf("%d rows and %d tests for %d files", len(run), len(tests), len(files))
	}
	for base, pattern := range run {
		for test, of := range tests {
			if strings.Contains(test, pattern) != (of == base) {
				t.Errorf("the table says -run %s for %s: selects %s of %s: %t, want %t",
					pattern, base, test, of, of != base, of == base)
			}
		}
	}
}

func isTest(name string) bool {
	return name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example"))
}
