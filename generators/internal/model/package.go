package model

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// LeftOutType is a type that exists only in a file that the go command leaves out.
type LeftOutType struct {
	Name string
	// Pos is the position of the type's name.
	Pos token.Position
	// Why says why the file is left out: "it is a test".
	Why string
}

// LeftOut returns the exported types of the package that exist only in files that the go command
// leaves out. It reads those files, and isn't safe for concurrent use.
func (p *Package) LeftOut() []LeftOutType {
	read := map[string]bool{}
	for _, f := range p.src.files {
		read[filepath.Base(f.path)] = !f.ignored
	}
	var types []LeftOutType
	entries, _ := os.ReadDir(p.Dir) // the package was read from it
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || read[name] {
			continue
		}
		fset := token.NewFileSet()
		f := newFile(p.Dir, name, p.base, true)
		// What can be parsed of a broken file is enough.
		syntax, _ := parser.ParseFile(fset, f.path, nil, parser.SkipObjectResolution)
		if syntax == nil || syntax.Name.Name != p.Name { // another package, such as v1_test
			continue
		}
		for _, decl := range syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				// A type in a generated file is not left out: its constraint is the generators'
				// own.
				spec, ok := spec.(*ast.TypeSpec)
				if !ok || !spec.Name.IsExported() || p.src.typ(spec.Name.Name) != nil {
					continue
				}
				pos := fset.Position(spec.Name.Pos())
				pos.Filename = f.name
				types = append(types, LeftOutType{spec.Name.Name, pos, whyLeftOut(name)})
			}
		}
	}
	return types
}

// whyLeftOut says why the go command leaves out a file of that name.
func whyLeftOut(name string) string {
	switch {
	case strings.HasSuffix(name, "_test.go"):
		return "it is a test"
	case strings.HasPrefix(name, "_") || strings.HasPrefix(name, "."):
		return "its name begins with " + name[:1]
	}
	return "build constraints exclude it"
}
