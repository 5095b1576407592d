package model

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// source is the syntax of a package. Files that are unlikely to matter are deferred: a
// look-up of a name parses the deferred files that mention it. A source is not safe for
// concurrent use, therefore.
type source struct {
	path, name, dir string
	// main is true if the package is in a main module.
	main  bool
	fset  *token.FileSet
	files []*file
	// types, values and methods index the top-level declarations of the parsed
	// files: the types by name, the names of functions, variables and constants, and
	// the names of the methods of each type.
	types   map[string]*typeDecl
	values  map[string]bool
	methods map[string][]string
	// doubled are the declarations of types that have the name of an earlier one, which don't compile.
	doubled []*typeDecl
	// marshalers has the methods by which types encode themselves, by "Type.Method";
	// marshalersRead is true once all files with such methods were parsed.
	marshalers     map[string]bool
	marshalersRead bool
	// bodies has the methods that describe a type to OpenAPI, by "Type.Method".
	bodies map[string]*ast.BlockStmt
	// copies are the methods whose names begin with DeepCopy.
	copies []copyMethod
}

// file is a file of a package. syntax is nil while the file is deferred.
type file struct {
	name, path string
	text       []byte
	syntax     *ast.File
	err        error
	// ignored is true for files that go list excludes: generated files, which
	// buildTag excludes, and files for other platforms. The declarations of the
	// former exist nevertheless.
	ignored bool
}

// typeDecl is a top-level type declaration.
type typeDecl struct {
	name string
	spec *ast.TypeSpec
	file *file
	pkg  *source
}

// newSource lists the files of a package without reading them. Files below base get
// paths relative to it, which messages show.
func newSource(p listed, fset *token.FileSet, base string) *source {
	s := &source{path: p.ImportPath, name: p.Name, dir: p.Dir, main: p.Module != nil && p.Module.Main,
		fset: fset, types: map[string]*typeDecl{}, values: map[string]bool{}, methods: map[string][]string{},
		bodies: map[string]*ast.BlockStmt{}, marshalers: map[string]bool{}}
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

// newFile notes a file without reading it.
func newFile(dir, name, base string, ignored bool) *file {
	f := &file{path: filepath.Join(dir, name), ignored: ignored}
	f.name = f.path
	if rel, err := filepath.Rel(base, f.path); err == nil && filepath.IsLocal(rel) {
		f.name = rel
	}
	return f
}

// parseAll reads and parses the files of packages in parallel.
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
	// The index isn't safe for concurrent use, and its order must not depend on timing.
	for _, p := range packages {
		for _, f := range p.files {
			p.index(f)
		}
	}
}

// load reads the file, and parses it unless it is deferred. Generated files without a
// client tag are three quarters of the code in API packages (deepcopy, protobuf,
// documentation), and hardly any of it matters here.
func (f *file) load(fset *token.FileSet) {
	if f.ignored || !f.read() {
		return
	}
	if !f.isDoc() && f.generated() && !bytes.Contains(f.text, []byte("+genclient")) {
		return
	}
	f.parse(fset)
}

// read reads the text unless that was done before, and reports whether it could.
func (f *file) read() bool {
	if f.text == nil && f.err == nil {
		f.text, f.err = os.ReadFile(f.path)
	}
	return f.err == nil
}

// parse parses the text, which isn't needed afterwards. AllErrors, so that one run reports
// everything; SkipObjectResolution, because it is slow and nothing uses its results.
func (f *file) parse(fset *token.FileSet) {
	f.syntax, f.err = parser.ParseFile(fset, f.name, f.text,
		parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors)
	f.text = nil
	if list, ok := f.err.(scanner.ErrorList); ok {
		// Further errors on a line usually follow from the first.
		list.RemoveMultiples()
		f.err = list
	}
}

// isDoc reports whether the file is doc.go, the only one whose package tags count.
func (f *file) isDoc() bool { return filepath.Base(f.name) == "doc.go" }

// index adds the declarations of a parsed file. Of two types of one name, which don't
// compile, it keeps the first.
func (s *source) index(f *file) {
	if f.syntax == nil {
		return
	}
	for _, decl := range f.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil { // AddToScheme may be a function or a variable
				s.values[decl.Name.Name] = true
			} else if len(decl.Recv.List) == 1 {
				receiver := typeName(decl.Recv.List[0].Type)
				s.methods[receiver] = append(s.methods[receiver], decl.Name.Name)
				// OpenAPIModelName, OpenAPISchemaType and the like.
				if strings.HasPrefix(decl.Name.Name, "OpenAPI") {
					s.bodies[receiver+"."+decl.Name.Name] = decl.Body
				}
				if isMarshaler(decl.Type) {
					s.marshalers[receiver+"."+decl.Name.Name] = true
				}
				if strings.HasPrefix(decl.Name.Name, "DeepCopy") {
					s.copies = append(s.copies, copyMethod{receiver, decl, f})
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
					decl := &typeDecl{name: spec.Name.Name, spec: spec, file: f, pkg: s}
					if s.types[decl.name] == nil {
						s.types[decl.name] = decl
					} else if decl.name != "_" {
						s.doubled = append(s.doubled, decl)
					}
				}
			}
		}
	}
}

// typ returns the top-level type of that name, nil if there is none.
func (s *source) typ(name string) *typeDecl {
	s.undefer(name, func() bool { return s.types[name] != nil })
	return s.types[name]
}

// predeclares reports whether a name is a predeclared type in this package: a package may declare a
// type of such a name.
func (s *source) predeclares(name string) bool {
	return s.types[name] == nil && types.Universe.Lookup(name) != nil
}

// declares reports whether there is a function, variable or constant of that name.
func (s *source) declares(name string) bool {
	s.undefer(name, func() bool { return s.values[name] })
	return s.values[name]
}

// undefer parses deferred files that mention name, until found returns true.
func (s *source) undefer(name string, found func() bool) {
	for _, f := range s.files {
		if found() {
			return
		}
		s.undeferFile(f, name)
	}
}

// undeferFile parses a deferred file if it mentions name.
func (s *source) undeferFile(f *file, name string) {
	if f.syntax != nil || !f.read() || !bytes.Contains(f.text, []byte(name)) ||
		f.ignored && !f.generatedHere() {
		return
	}
	f.parse(s.fset)
	s.index(f)
}

// generatedHere reports whether an unparsed file that go list excludes is a generated one, and not
// one for another platform.
func (f *file) generatedHere() bool { return bytes.Contains(header(f.text), []byte("!"+buildTag)) }

// undeferTypes parses the deferred files that declare types or methods for deep copies, other than
// the one at path except.
func (s *source) undeferTypes(except string) { s.undeferText(except, "\ntype ", ") DeepCopy") }

// undeferText parses the deferred files that have one of the texts, other than the one at path except:
// gengo sees all files but those that buildTag excludes.
func (s *source) undeferText(except string, texts ...string) {
	for _, f := range s.files {
		has := func(text string) bool { return bytes.Contains(f.text, []byte(text)) }
		if f.syntax == nil && !f.ignored && f.path != except && f.read() && slices.ContainsFunc(texts, has) {
			f.parse(s.fset)
			s.index(f)
		}
	}
}

// has reports whether the package has a file of that name.
func (s *source) has(name string) bool {
	return slices.ContainsFunc(s.files, func(f *file) bool { return filepath.Base(f.path) == name })
}

// typeName returns the name in the type of a receiver or of an embedded field, without
// pointer, package and type arguments.
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

// generatedLine marks generated files; see https://go.dev/s/generatedcode.
var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)

// generated reports whether the file is generated: by its header, or by a name that
// Kubernetes' generators give, because types_swagger_doc_generated.go has no such
// header.
func (f *file) generated() bool {
	return strings.HasSuffix(f.name, "_generated.go") || generatedLine.Match(header(f.text))
}

// header returns the text before the package clause.
func header(text []byte) []byte {
	if strings.HasPrefix(string(text[:min(len(text), 8)]), "package ") {
		return nil
	}
	before, _, _ := bytes.Cut(text, []byte("\npackage "))
	return append(before[:len(before):len(before)], '\n')
}

// typeNames are the exported types of the files parsed so far, sorted.
func (s *source) typeNames() []string {
	var names []string
	for name := range s.types {
		if token.IsExported(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// constant returns the literal that a constant of the package is set to, as source, ""
// for any other constant. It sees through a conversion.
func (s *source) constant(name string) string {
	value, _ := s.value(token.CONST, name)
	if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
		value = call.Args[0]
	}
	if lit, ok := value.(*ast.BasicLit); ok && !strings.HasPrefix(lit.Value, "`") {
		return lit.Value
	}
	return ""
}

// value returns the expression that a constant (token.CONST) or a variable (token.VAR)
// of the package is declared as, and its file. It is nil if there is no such
// declaration, or no expression for this name alone.
func (s *source) value(tok token.Token, name string) (ast.Expr, *file) {
	if !s.declares(name) { // which parses a deferred file that has it
		return nil, nil
	}
	for spec, f := range s.specs(tok) {
		spec := spec.(*ast.ValueSpec)
		i := slices.IndexFunc(spec.Names, func(n *ast.Ident) bool { return n.Name == name })
		if i >= 0 && len(spec.Values) == len(spec.Names) {
			return spec.Values[i], f
		}
	}
	return nil, nil
}

// specs yields what the parsed files declare with a keyword, in order.
func (s *source) specs(keyword token.Token) iter.Seq2[ast.Spec, *file] {
	return func(yield func(ast.Spec, *file) bool) {
		for _, f := range s.files {
			if f.syntax == nil {
				continue
			}
			for _, decl := range f.syntax.Decls {
				if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == keyword {
					for _, spec := range gen.Specs {
						if !yield(spec, f) {
							return
						}
					}
				}
			}
		}
	}
}

// returns are the string literals in a method that describes a type to OpenAPI: the result, or the
// elements of a list. ok is false if there is no such method.
func (s *source) returns(receiver, method string) (values []string, ok bool) {
	body := s.bodies[receiver+"."+method]
	if body == nil {
		return nil, false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if lit, isLit := n.(*ast.BasicLit); isLit {
			if value, err := strconv.Unquote(lit.Value); err == nil {
				values = append(values, value)
			}
		}
		return true
	})
	return values, true
}
