package output

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// AnyImports reports whether a generated file in a tree, with one of the set's headers, imports one
// of the packages.
func (s Set) AnyImports(tree string, packages []string) bool {
	found := false
	_ = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // a folder that can't be read counts as empty
		}
		for _, imports := range s.Imports(path) {
			found = found || slices.ContainsFunc(imports,
				func(imported string) bool { return slices.Contains(packages, imported) })
		}
		if found {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// Imports maps the paths of the generated files in a folder, which have one of the set's headers,
// to the import paths in them. It leaves out what can't be read.
func (s Set) Imports(dir string) map[string][]string {
	imports := map[string][]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return imports
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !entry.Type().IsRegular() || !strings.HasSuffix(path, ".go") {
			continue
		}
		if generated, err := s.isGeneratedFile(path); err != nil || !generated {
			continue
		}
		imports[path] = nil
		syntax, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if syntax == nil {
			continue
		}
		for _, spec := range syntax.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
				imports[path] = append(imports[path], imported)
			}
		}
	}
	return imports
}
