package model

import (
	"context"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// sources are the packages that were read: those of the input, and others as soon as
// an answer depends on them.
type sources struct {
	ctx  context.Context
	dir  string // the working directory of the go command
	base string // dir, absolute
	fset *token.FileSet
	// buildTag is set for the go command.
	buildTag string
	// byPath maps import paths to packages. It has nil for a package that can't be found, so that it is
	// requested from the go command only once.
	byPath map[string]*source
	// found is the output of go list for packages, by the requested import path.
	found map[string]listed
	// standIns are the stand-ins of packages, by import path.
	standIns map[string]*source
}

// need reads the packages that weren't read yet. Its call of the go command also lists the other imports
// of the packages read so far: each call costs tens of milliseconds, most of them for the start.
func (s *sources) need(paths ...string) {
	var missing, ask []string
	for _, p := range paths {
		if _, ok := s.byPath[p]; ok || slices.Contains(missing, p) || p == "C" {
			continue
		}
		missing = append(missing, p)
		if _, ok := s.found[p]; !ok {
			ask = append(ask, p)
		}
	}
	if len(missing) == 0 {
		return
	}
	// They stay nil if they aren't found, so that they are requested only once.
	for _, p := range missing {
		s.byPath[p] = nil
	}
	if len(ask) > 0 {
		// On an error all of them are missing, which is reported where they are needed.
		packages, _ := goList(s.ctx, s.dir, s.buildTag, append(ask, s.imports()...))
		for _, p := range packages {
			for _, pattern := range p.Match {
				s.found[pattern] = p // the ImportPath of a vendored package differs
			}
		}
	}
	var packages []listed
	for _, p := range missing {
		if found, ok := s.found[p]; ok {
			packages = append(packages, found)
		}
	}
	s.read(packages)
}

// imports returns the imports of the packages read so far that weren't requested from the go command yet.
func (s *sources) imports() []string {
	var imports []string
	for _, src := range s.byPath {
		if src == nil {
			continue
		}
		for _, f := range src.files {
			if f.syntax == nil {
				continue
			}
			for _, spec := range f.syntax.Imports {
				p, err := strconv.Unquote(spec.Path.Value)
				first, _, _ := strings.Cut(p, "/")
				_, read := s.byPath[p]
				_, found := s.found[p]
				if err == nil && !read && !found && strings.Contains(first, ".") {
					imports = append(imports, p)
				}
			}
		}
	}
	slices.Sort(imports)
	return slices.Compact(imports)
}

// list returns the packages that patterns match, and reads those of them that weren't read yet. It
// leaves out those that can't be found.
func (s *sources) list(patterns []string) ([]*source, error) {
	packages, err := goList(s.ctx, s.dir, s.buildTag, patterns)
	if err != nil {
		return nil, err
	}
	return s.read(packages), nil
}

// read reads the listed packages that weren't read yet. It returns all of them but for those that can't be
// found.
func (s *sources) read(packages []listed) []*source {
	var all, unread []*source
	for _, p := range packages {
		if p.Dir == "" || len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue
		}
		src := s.byPath[p.ImportPath]
		if src == nil {
			src = newSource(p, s.fset, s.base)
			s.byPath[p.ImportPath] = src
			unread = append(unread, src)
		}
		for _, pattern := range p.Match {
			if !wildcard(pattern) {
				s.byPath[pattern] = src // the ImportPath of a vendored package differs
			}
		}
		all = append(all, src)
	}
	if len(unread) > 0 {
		parseAll(unread)
	}
	return all
}

// docTags returns the tags in a package's doc.go: gengo reads all of its comments, and those of no
// other file (addPkgToUniverse in parser/parse.go).
func (s *sources) docTags(p *source) []marker.Tag {
	for _, f := range p.files {
		if f.syntax != nil && f.isDoc() {
			return marker.ScanPackage(s.fset, f.syntax.Comments...)
		}
	}
	return nil
}

// pkg returns the package of that import path, nil if it can't be found.
func (s *sources) pkg(importPath string) *source {
	s.need(importPath)
	return s.byPath[importPath]
}

// standIn returns the stand-in that declares a type, nil if there is none. A package that was read takes
// precedence.
func (s *sources) standIn(path, name string) *source {
	p := s.standIns[path]
	if p == nil || p.types[name] == nil || s.byPath[path] != nil {
		return nil
	}
	return p
}

// declaring returns the package of a type, or its stand-in. It is nil if there is no stand-in, and the
// package can't be found.
func (s *sources) declaring(ref TypeRef) *source {
	if p := s.standIn(ref.Path, ref.Name); p != nil {
		return p
	}
	return s.pkg(ref.Path)
}

// importPath returns the import path that a package name stands for in a file, "" if
// no import fits. Imported packages are read only if no path ends in the name.
func (s *sources) importPath(f *file, name string) string {
	var unnamed []string
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name == nil:
			unnamed = append(unnamed, p)
		case spec.Name.Name == name:
			return p
		}
	}
	// A package may have another name than its folder, but few have the name of another
	// package's folder.
	for _, p := range unnamed {
		if path.Base(p) == name {
			return p
		}
	}
	s.need(unnamed...)
	for _, p := range unnamed {
		if src := s.byPath[p]; src != nil && src.name == name {
			return p
		}
	}
	return ""
}

// dotImported returns the path of the package that declares a type, which a file names without a package:
// that of another one if the file imports it by a dot.
func (s *sources) dotImported(p *source, f *file, name string) string {
	for _, spec := range f.syntax.Imports {
		if spec.Name == nil || spec.Name.Name != "." || p.typ(name) != nil {
			continue
		}
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			if imported := s.pkg(path); imported != nil && imported.typ(name) != nil {
				return path
			}
		}
	}
	return p.path
}

// refer returns the type that an expression names, seen through pointers, parentheses
// and type arguments. ok is false for any other expression.
func (s *sources) refer(p *source, f *file, expr ast.Expr) (ref TypeRef, ok bool) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return TypeRef{Path: p.path, Package: p.name, Name: expr.Name}, true
	case *ast.StarExpr:
		return s.refer(p, f, expr.X)
	case *ast.ParenExpr:
		return s.refer(p, f, expr.X)
	case *ast.IndexExpr: // a generic type with one argument
		return s.refer(p, f, expr.X)
	case *ast.IndexListExpr:
		return s.refer(p, f, expr.X)
	case *ast.SelectorExpr:
		x, isIdent := expr.X.(*ast.Ident)
		if !isIdent {
			return TypeRef{}, false
		}
		importPath := s.importPath(f, x.Name)
		return TypeRef{Path: importPath, Package: x.Name, Name: expr.Sel.Name}, importPath != ""
	}
	return TypeRef{}, false
}

// structType is a struct, with the file in which the types of its fields are resolved.
type structType struct {
	fields []*ast.Field
	file   *file
	pkg    *source
}

// maxHops limits how far chains of type names and embedded fields are followed:
// syntax that isn't type-checked can have cycles.
const maxHops = 16

// structOf follows names, across packages, to a struct type; it returns nil for other
// types. known is false if a package on the way can't be found, so that the answer
// isn't known.
func (s *sources) structOf(p *source, f *file, expr ast.Expr) (st *structType, known bool) {
	literal, f, p, known := s.underlying(p, f, expr)
	if struc, ok := literal.(*ast.StructType); ok {
		return &structType{struc.Fields.List, f, p}, true
	}
	return nil, known
}

// underlying follows names, across packages, to a type literal, and returns the file and the
// package of that. The literal is nil for predeclared types, and if known is false: then a
// package on the way can't be found.
func (s *sources) underlying(p *source, f *file, expr ast.Expr) (literal ast.Expr, in *file, of *source,
	known bool) {
	for range maxHops {
		if _, pointer := expr.(*ast.StarExpr); pointer {
			return expr, f, p, true // refer would see through it
		}
		ref, ok := s.refer(p, f, expr)
		if !ok {
			_, selector := expr.(*ast.SelectorExpr)
			if selector {
				return nil, f, p, false
			}
			return expr, f, p, true
		}
		if ident, ok := expr.(*ast.Ident); ok && p.predeclares(ident.Name) {
			return nil, f, p, true
		}
		if p.path != ref.Path {
			if p = s.declaring(ref); p == nil {
				return nil, f, p, false
			}
		}
		decl := p.typ(ref.Name)
		if decl == nil {
			return nil, f, p, true
		}
		f, expr = decl.file, decl.spec.Type
	}
	return nil, f, p, true
}

// structOfDecl is structOf for a type declaration.
func (s *sources) structOfDecl(t *typeDecl) (*structType, bool) {
	return s.structOf(t.pkg, t.file, t.spec.Type)
}

// field returns the direct field of that name, nil if there is none. An embedded field
// has the name of its type, as in gengo's Members.
func (st *structType) field(name string) *ast.Field {
	for _, field := range st.fields {
		if len(field.Names) == 0 && typeName(field.Type) == name {
			return field
		}
		for _, n := range field.Names {
			if n.Name == name {
				return field
			}
		}
	}
	return nil
}

// embeds reports whether a struct embeds a type of that name, directly or through
// other embedded structs. If an embedded type can't be found, the answer is true: a
// missing dependency must not lead to errors about types that are fine.
func (s *sources) embeds(st *structType, name string) bool {
	return s.finds(st, func(f *ast.Field) bool { return len(f.Names) == 0 }, name, 0)
}

// promotes reports whether a struct has a field of that name, its own or promoted. The
// answer for unknown embedded types is that of embeds.
func (s *sources) promotes(st *structType, name string) bool {
	return s.finds(st, func(*ast.Field) bool { return true }, name, 0)
}

// finds reports whether the outermost field of that name is accepted by will.
func (s *sources) finds(st *structType, will func(*ast.Field) bool, name string, hops int) bool {
	if f := st.field(name); f != nil {
		return will(f)
	}
	if hops == maxHops {
		return false
	}
	for _, field := range st.fields {
		if len(field.Names) > 0 {
			continue
		}
		expr := field.Type
		if star, ok := expr.(*ast.StarExpr); ok {
			expr = star.X
		}
		inner, known := s.structOf(st.pkg, st.file, expr)
		if sel, ok := expr.(*ast.SelectorExpr); !known && ok && sel.Sel.Name == "TypeMeta" {
			// Apimachinery isn't downloaded yet. Its TypeMeta is known, and every API
			// type embeds it: to give it the benefit of the doubt would hide all
			// errors.
			continue
		}
		if !known || inner != nil && s.finds(inner, will, name, hops+1) {
			return true
		}
	}
	return false
}

// tagText returns the tag of a field, with its quotes.
func tagText(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	return field.Tag.Value
}

// splitType splits a type name such as "k8s.io/api/autoscaling/v1.Scale", which may
// have no import path.
func splitType(name string) (importPath, typeName string) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

// at returns the position of a type's name.
func (s *sources) at(spec *ast.TypeSpec) token.Position { return s.fset.Position(spec.Name.Pos()) }
