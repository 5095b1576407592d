package model

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// source is the syntax of one package. It is filled by sources and then only
// read, but for deferred files, which are parsed when a name is looked up that
// may be in them.
type source struct {
	path, name, dir string
	fset            *token.FileSet
	files           []*file
	// types, values and methods index the top-level declarations of the
	// parsed files: types by name, the names of functions, variables and
	// constants, and the methods' names by type.
	types   map[string]*typeDecl
	values  map[string]bool
	methods map[string][]string
	// bodies holds the methods that describe a type to OpenAPI, by
	// "Type.Method".
	bodies map[string]*ast.BlockStmt
}

// file is one file of a package. syntax is nil while it is deferred.
type file struct {
	name, path string
	text       []byte
	syntax     *ast.File
	err        error
	// ignored files aren't part of the package as go list sees it: generated
	// ones, because of the build tag, and those for other platforms. What the
	// former declare exists all the same.
	ignored bool
}

// typeDecl is a top-level type declaration.
type typeDecl struct {
	name string
	spec *ast.TypeSpec
	file *file
	pkg  *source
}

// newSource notes the files of a package without reading them. Paths of files
// become relative to base where they are below it, for shorter messages.
func newSource(p listed, fset *token.FileSet, base string) *source {
	s := &source{path: p.ImportPath, name: p.Name, dir: p.Dir, fset: fset,
		types: map[string]*typeDecl{}, values: map[string]bool{}, methods: map[string][]string{}, bodies: map[string]*ast.BlockStmt{}}
	for _, names := range [][]string{p.GoFiles, p.CgoFiles, p.InvalidGoFiles} {
		for _, name := range names {
			s.files = append(s.files, newFile(p.Dir, name, base, false))
		}
	}
	for _, name := range p.IgnoredGoFiles {
		s.files = append(s.files, newFile(p.Dir, name, base, true))
	}
	return s
}

func newFile(dir, name, base string, ignored bool) *file {
	f := &file{path: filepath.Join(dir, name), ignored: ignored}
	f.name = f.path
	if rel, err := filepath.Rel(base, f.path); err == nil && filepath.IsLocal(rel) {
		f.name = rel
	}
	return f
}

// parseAll reads and parses the files of packages, several at a time.
func parseAll(packages []*source) {
	var wait sync.WaitGroup
	work := make(chan *file)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for f := range work {
				f.load(packages[0].fset)
			}
		})
	}
	for _, p := range packages {
		for _, f := range p.files {
			work <- f
		}
	}
	close(work)
	wait.Wait()
	for _, p := range packages {
		for _, f := range p.files {
			p.index(f)
		}
	}
}

// load reads the file, and parses it unless it is better deferred: generated
// files without a client tag are three quarters of all code in API packages,
// and next to nothing in them matters here.
func (f *file) load(fset *token.FileSet) {
	if f.ignored || !f.read() {
		return
	}
	if !f.isDoc() && f.generated() && !bytes.Contains(f.text, []byte("+genclient")) {
		return
	}
	f.parse(fset)
}

// read makes sure that the text is there.
func (f *file) read() bool {
	if f.text == nil && f.err == nil {
		f.text, f.err = os.ReadFile(f.path)
	}
	return f.err == nil
}

func (f *file) parse(fset *token.FileSet) {
	f.syntax, f.err = parser.ParseFile(fset, f.name, f.text, parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors)
	f.text = nil
	if list, ok := f.err.(scanner.ErrorList); ok {
		// What follows on the same line mostly comes of the first.
		list.RemoveMultiples()
		f.err = list
	}
}

// isDoc reports whether the file is the one whose comments steer generators.
func (f *file) isDoc() bool { return filepath.Base(f.name) == "doc.go" }

// index enters the declarations of a parsed file; the first of two wins.
func (s *source) index(f *file) {
	if f.syntax == nil {
		return
	}
	for _, decl := range f.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				s.values[decl.Name.Name] = true
			} else if len(decl.Recv.List) == 1 {
				receiver := typeName(decl.Recv.List[0].Type)
				s.methods[receiver] = append(s.methods[receiver], decl.Name.Name)
				if strings.HasPrefix(decl.Name.Name, "OpenAPI") {
					s.bodies[receiver+"."+decl.Name.Name] = decl.Body
				}
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						s.values[name.Name] = true
					}
				case *ast.TypeSpec:
					if s.types[spec.Name.Name] == nil {
						s.types[spec.Name.Name] = &typeDecl{name: spec.Name.Name, spec: spec, file: f, pkg: s}
					}
				}
			}
		}
	}
}

// typ finds a top-level type, nil when there is none.
func (s *source) typ(name string) *typeDecl {
	s.undefer(name, func() bool { return s.types[name] != nil })
	return s.types[name]
}

// declares reports whether there is a function, variable or constant of that name.
func (s *source) declares(name string) bool {
	s.undefer(name, func() bool { return s.values[name] })
	return s.values[name]
}

// undefer parses deferred files that mention name until found is true.
func (s *source) undefer(name string, found func() bool) {
	for _, f := range s.files {
		if found() {
			return
		}
		if f.syntax != nil || !f.read() || !bytes.Contains(f.text, []byte(name)) {
			continue
		}
		if f.ignored && !bytes.Contains(header(f.text), []byte("!"+buildTag)) {
			continue
		}
		f.parse(s.fset)
		s.index(f)
	}
}

// typeName is the name in the type of a receiver or of an embedded field,
// without pointer, package and type arguments.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return expr.Sel.Name
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.ParenExpr:
		return typeName(expr.X)
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.IndexListExpr:
		return typeName(expr.X)
	}
	return ""
}

// generatedLine is the convention of https://go.dev/s/generatedcode.
var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// generated reports whether the file says that it is generated, or has a name
// that the generators of Kubernetes give: types_swagger_doc_generated.go
// doesn't say so.
func (f *file) generated() bool {
	return strings.HasSuffix(f.name, "_generated.go") || generatedLine.Match(header(f.text))
}

// header is what stands before the package clause.
func header(text []byte) []byte {
	if strings.HasPrefix(string(text[:min(len(text), 8)]), "package ") {
		return nil
	}
	before, _, _ := bytes.Cut(text, []byte("\npackage "))
	return append(before[:len(before):len(before)], '\n')
}
