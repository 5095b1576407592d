package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNoAliasesOfInternalTypes checks that no public package exports an alias of a type of an internal
// package: nobody could read the type's documentation, and the alias would publish what is internal.
func TestNoAliasesOfInternalTypes(t *testing.T) {
	eachPublicFile(t, func(name string, f *ast.File) {
		for _, alias := range aliasesOfInternal(f) {
			t.Errorf("%s: %s is an alias of an internal type: declare the type here", name, alias)
		}
	})
	f, err := parser.ParseFile(token.NewFileSet(), "", `package p
import ("a/internal/b"; "a/c"; d "a/internal/e")
type (
	One[T any] = b.One[T]
	two        = b.Two
	Three      = c.Three
	Four       b.Four
	Five       = []*d.Five
)`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := aliasesOfInternal(f); !slices.Equal(got, []string{"One", "Five"}) {
		t.Errorf("found %q", got)
	}
}

// eachPublicFile calls do with each file of the public packages, tests included.
func eachPublicFile(t *testing.T, do func(name string, f *ast.File)) {
	t.Helper()
	packages := 0
	for _, p := range list(t, ".", "./runtime/...", "./informers/...", "./sharding/...") {
		if isInternal(p.ImportPath) {
			continue
		}
		packages++
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			do(file, f)
		}
	}
	if packages < 15 {
		t.Errorf("only %d public packages were found", packages)
	}
}

// aliasesOfInternal returns the exported aliases in a file of types that name a type of an internal package.
func aliasesOfInternal(f *ast.File) (aliases []string) {
	internals := internalImports(f)
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() {
			return true
		}
		ast.Inspect(spec.Type, func(n ast.Node) bool {
			if from, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := from.X.(*ast.Ident); ok && internals[pkg.Name] {
					aliases = append(aliases, spec.Name.Name)
				}
			}
			return true
		})
		return false
	})
	return aliases
}

// internalImports returns the names in a file of the internal packages that it imports.
func internalImports(f *ast.File) map[string]bool {
	internals := map[string]bool{}
	for _, imported := range f.Imports {
		from, err := strconv.Unquote(imported.Path.Value)
		if err != nil || !isInternal(from) {
			continue
		}
		name := from[strings.LastIndexByte(from, '/')+1:]
		if imported.Name != nil {
			name = imported.Name.Name
		}
		internals[name] = true
	}
	return internals
}
