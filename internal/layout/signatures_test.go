package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestSignatures checks that no exported function or method of a public package has an unexported type, or a
// type of an internal package, in its signature: its documentation couldn't be read, and nobody could declare
// a variable for it.
func TestSignatures(t *testing.T) {
	functions := 0
	eachPublicFile(t, func(name string, f *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && isExportedFunc(d) {
				functions++
			}
		}
		for _, complaint := range hiddenInSignatures(f) {
			t.Errorf("%s: %s", name, complaint)
		}
	})
	if functions < 300 {
		t.Errorf("only %d exported functions were found", functions)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", `package p
import ("a/internal/b"; "a/c"; d "a/internal/e")
func One(hidden) {}
func Two(...[]b.B) {}
func Three() (func(map[string]*d.E)) { return nil }
func Four[T hidden](T) {}
func (*Five[K]) Method(c.C, K, Five[K], error, any, interface{ Do(x int) bool }) {}
func (*six) Method() hidden { return nil }
func seven() hidden { return nil }
func Eight(x interface{ Do() hidden }) {}
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"One has the type hidden in its signature", "Two has the type b.B in its signature",
		"Three has the type d.E in its signature", "Four has the type hidden in its signature",
		"Eight has the type hidden in its signature",
	}
	if got := hiddenInSignatures(f); !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

// isExportedFunc reports whether a function, or a method and its type, are exported.
func isExportedFunc(d *ast.FuncDecl) bool {
	if d.Recv != nil {
		exported := false
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			exported = exported || ok && id.IsExported()
			return !ok
		})
		return exported && d.Name.IsExported()
	}
	return d.Name.IsExported()
}

// hiddenInSignatures returns a complaint for each type that a user can't name in the signature of an exported
// function of a file.
func hiddenInSignatures(f *ast.File) (complaints []string) {
	internals := internalImports(f)
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || !isExportedFunc(d) {
			continue
		}
		known := typeParameters(d)
		complain := func(name string) {
			complaints = append(complaints, d.Name.Name+" has the type "+name+" in its signature")
		}
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // The names of parameters and methods are no types.
				ast.Inspect(n.Type, visit)
				return false
			case *ast.SelectorExpr:
				if from, ok := n.X.(*ast.Ident); ok && internals[from.Name] {
					complain(from.Name + "." + n.Sel.Name)
				}
				return false
			case *ast.Ident:
				if !n.IsExported() && !known[n.Name] && !isPredeclared(n.Name) {
					complain(n.Name)
				}
			}
			return true
		}
		ast.Inspect(d.Type, visit)
	}
	return complaints
}

// typeParameters returns the names of the type parameters of a function and of its receiver.
func typeParameters(d *ast.FuncDecl) map[string]bool {
	known := map[string]bool{}
	if d.Recv != nil {
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				known[id.Name] = true
			}
			return true
		})
	}
	if d.Type.TypeParams != nil {
		for _, field := range d.Type.TypeParams.List {
			for _, name := range field.Names {
				known[name.Name] = true
			}
		}
	}
	return known
}

func isPredeclared(name string) bool { return types.Universe.Lookup(name) != nil }
