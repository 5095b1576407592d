package move

import (
	"fmt"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

// library are the packages of other modules, as the compiler wrote their types down.
type library struct {
	files   *token.FileSet
	types   map[string]*types.Package
	exports map[string]string // file names, by import path
	// broken are the packages that don't compile.
	broken []brokenPackage
	// needs are the imports of each package.
	needs map[string][]string
}

// brokenPackage is a package of another module that doesn't compile.
type brokenPackage struct{ path, module, message string }

// loadLibrary has the go command compile packages, with all that they import.
func loadLibrary(config *packages.Config, paths []string) (*library, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	exporting := *config
	exporting.Tests = false
	exporting.Mode = packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedModule |
		packages.NeedExportFile
	roots, err := packages.Load(&exporting, paths...)
	if err != nil {
		return nil, err
	}
	l := &library{files: token.NewFileSet(), types: map[string]*types.Package{"unsafe": types.Unsafe},
		exports: map[string]string{}, needs: map[string][]string{}}
	packages.Visit(roots, nil, func(pkg *packages.Package) {
		l.exports[pkg.PkgPath] = pkg.ExportFile
		for _, i := range pkg.Imports {
			l.needs[pkg.PkgPath] = append(l.needs[pkg.PkgPath], i.PkgPath)
		}
		if len(pkg.Errors) > 0 {
			b := brokenPackage{path: pkg.PkgPath, message: compilerMessage(pkg.Errors[0])}
			if pkg.Module != nil {
				b.module = pkg.Module.Path + " " + pkg.Module.Version
			}
			l.broken = append(l.broken, b)
		}
	})
	slices.SortFunc(l.broken, func(a, b brokenPackage) int { return strings.Compare(a.path, b.path) })
	return l, nil
}

// compilerMessage returns the first line of an error that isn't the compiler's heading.
func compilerMessage(e packages.Error) string {
	for line := range strings.Lines(e.Msg) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "# ") {
			if e.Pos != "" && e.Pos != "-" && !strings.Contains(line, ".go:") {
				line = e.Pos + ": " + line
			}
			return line
		}
	}
	return "it doesn't compile"
}

// Import returns a package of the library.
func (l *library) Import(path string) (*types.Package, error) {
	if p := l.types[path]; p != nil && p.Complete() {
		return p, nil
	}
	if l.exports[path] == "" {
		return nil, l.missing(path)
	}
	file, err := os.Open(l.exports[path])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader, err := gcexportdata.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return gcexportdata.Read(reader, l.files, l.types, path)
}

// missing explains why there are no types of a package: it, or one that it imports, doesn't compile.
func (l *library) missing(path string) error {
	seen := map[string]bool{}
	var cause func(path string) *brokenPackage
	cause = func(path string) *brokenPackage {
		if seen[path] {
			return nil
		}
		seen[path] = true
		for i := range l.broken {
			if l.broken[i].path == path {
				return &l.broken[i]
			}
		}
		for _, need := range l.needs[path] {
			if b := cause(need); b != nil {
				return b
			}
		}
		return nil
	}
	if b := cause(path); b != nil {
		return fmt.Errorf("%s doesn't compile: %s", b.path, b.message)
	}
	return fmt.Errorf("the go command has no package %s", path)
}
