package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNobodySleeps checks that tests don't sleep: they use fake clocks and channels. Only internal/bubble
// may, which refuses the real clock.
func TestNobodySleeps(t *testing.T) {
	files := token.NewFileSet()
	read := 0
	eachGoFile(t, func(name string, text []byte) {
		ofTests := strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/test/") ||
			strings.Contains(name, "/runtimetest/") || strings.Contains(name, "/conformance/")
		if !ofTests || strings.Contains(name, "/bubble/") {
			return
		}
		file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		read++
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf(
						"%s: a test sleeps: wait for the event itself, or move the clock of a bubble",
						files.Position(n.Pos()))
				}
			}
			return true
		})
	})
	if read < 100 {
		t.Errorf("only %d files were read", read)
	}
}
