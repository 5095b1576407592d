package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNobodySleeps checks that tests don't sleep: they use fake clocks and channels. Only internal/bubble,
// which refuses the real clock, may.
func TestNobodySleeps(t *testing.T) {
	const root = "../.."
	files := token.NewFileSet()
	read := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == "testdata" || base == "bubble" ||
				strings.HasPrefix(base, ".") && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		place := filepath.ToSlash(name)
		if !strings.HasSuffix(place, "_test.go") &&
			!(strings.HasSuffix(place, ".go") &&
				(strings.Contains(place, "/test/") || strings.Contains(place, "/runtimetest/") ||
					strings.Contains(place, "/conformance/"))) {
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf(
						"%s: a test sleeps: wait for what it waits for, or let the time of a bubble pass",
						files.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}
