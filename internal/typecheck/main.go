// Command typecheck type-checks modules that a test has generated. It is a program because tests run with the
// race detector, which makes a type checker many times slower.
//
// The argument is a file with lines "import path, tab, file of export data" for all packages that the modules
// may import. Standard input has lines "module path, tab, folder". The program answers each by a line on
// standard output with a Go string: "", or the module's first error.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

func main() {
	if err := answer(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

func answer(exports string, in io.Reader, out io.Writer) error {
	text, err := os.ReadFile(exports)
	if err != nil {
		return err
	}
	files := map[string]string{}
	for line := range strings.Lines(string(text)) {
		importPath, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[importPath] = file
	}
	// The importer reads each package only once, for all modules.
	library := importer.ForCompiler(token.NewFileSet(), "gc", func(importPath string) (io.ReadCloser, error) {
		if files[importPath] == "" {
			return nil, fmt.Errorf("%s is not among the packages that generated code may import", importPath)
		}
		return os.Open(files[importPath])
	})
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		modulePath, dir, _ := strings.Cut(lines.Text(), "\t")
		found := ""
		if err := check(library, modulePath, dir); err != nil {
			found = err.Error()
		}
		if _, err := fmt.Fprintf(out, "%q\n", found); err != nil {
			return err
		}
	}
	return lines.Err()
}

// check checks all packages of a module.
func check(library types.Importer, modulePath, dir string) error {
	m := &module{library: library, fset: token.NewFileSet(), files: map[string][]string{},
		done: map[string]*types.Package{}}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		// A name like x_test.go or x_windows.go would leave the file out of the build.
		if ok, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || !ok ||
			strings.HasSuffix(file, "_test.go") {
			return errors.Join(fmt.Errorf("the go command would leave out %s", file), err)
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		importPath := path.Join(modulePath, filepath.ToSlash(folder))
		m.files[importPath] = append(m.files[importPath], file)
		return err
	})
	if err != nil {
		return err
	}
	for importPath := range m.files {
		if _, err := m.Import(importPath); err != nil {
			return err
		}
	}
	return nil
}

// module is the importer for the packages of a module: its own, from source, and those of the library.
type module struct {
	library types.Importer
	fset    *token.FileSet
	files   map[string][]string // by import path
	// done are the checked packages, nil for those that are being checked.
	done map[string]*types.Package
}

func (m *module) Import(importPath string) (*types.Package, error) {
	files := m.files[importPath]
	if files == nil {
		if importPath == "unsafe" {
			return types.Unsafe, nil
		}
		return m.library.Import(importPath)
	}
	if pkg, ok := m.done[importPath]; ok {
		if pkg == nil {
			return nil, fmt.Errorf("import cycle through %s", importPath)
		}
		return pkg, nil
	}
	m.done[importPath] = nil
	var syntax []*ast.File
	for _, file := range files {
		parsed, err := parser.ParseFile(m.fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, parsed)
	}
	pkg, err := (&types.Config{Importer: m}).Check(importPath, m.fset, syntax, nil)
	if err != nil {
		return nil, err
	}
	m.done[importPath] = pkg
	return pkg, nil
}
