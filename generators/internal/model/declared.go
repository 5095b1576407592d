package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Declared returns the names that the files of a folder declare at their top level, and where. It reads the
// files whose names want accepts, but no tests, and skips files that don't parse.
func Declared(dir string, want func(file string) bool) map[string]string {
	names := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return names
	}
	fset := token.NewFileSet()
	for _, entry := range entries {
		file := entry.Name()
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || !want(file) {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || !info.Mode().IsRegular() {
			continue
		}
		syntax, err := parser.ParseFile(fset, filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		add := func(ident *ast.Ident) { names[ident.Name] = fset.Position(ident.Pos()).String() }
		for _, decl := range syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					add(decl.Name)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							add(name)
						}
					}
				}
			}
		}
	}
	return names
}
