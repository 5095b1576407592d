package model

import (
	"context"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// sources are the packages known so far: those of the input, and others once
// an answer needed them.
type sources struct {
	ctx  context.Context
	dir  string // where the go command runs
	base string // dir, absolute
	fset *token.FileSet
	// byPath holds nil for a package that can't be had.
	byPath map[string]*source
}

// need makes packages available with one call of the go command; what can't
// be found is remembered as missing.
func (s *sources) need(paths ...string) {
	var missing []string
	for _, p := range paths {
		if _, ok := s.byPath[p]; !ok && !slices.Contains(missing, p) && p != "C" {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return
	}
	for _, p := range missing {
		s.byPath[p] = nil
	}
	packages, err := goList(s.ctx, s.dir, missing)
	if err != nil {
		return
	}
	var found []*source
	for _, p := range packages {
		if p.Dir == "" || len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue
		}
		src := newSource(p, s.fset, s.base)
		for _, pattern := range p.Match {
			s.byPath[pattern] = src // a vendored package's ImportPath is longer
		}
		found = append(found, src)
	}
	if len(found) > 0 {
		parseAll(found)
	}
}

// pkg returns a package by its import path, nil when there is none.
func (s *sources) pkg(importPath string) *source {
	s.need(importPath)
	return s.byPath[importPath]
}

// importPath finds the import path that name stands for in a file, "" when
// no import fits. Only where the paths themselves don't tell, packages are
// looked at.
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

// refer turns the type expression of a file into a reference; ok is false for
// what isn't a name, pointers to names excepted.
func (s *sources) refer(p *source, f *file, expr ast.Expr) (ref TypeRef, ok bool) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return TypeRef{Path: p.path, Package: p.name, Name: expr.Name}, true
	case *ast.StarExpr:
		return s.refer(p, f, expr.X)
	case *ast.ParenExpr:
		return s.refer(p, f, expr.X)
	case *ast.IndexExpr:
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

// structType is a struct with the file that its field types are to be read in.
type structType struct {
	fields []*ast.Field
	file   *file
	pkg    *source
}

// maxHops bounds how far chains of type names and embedded fields are
// followed; cycles are legal to parse.
const maxHops = 16

// structOf follows names, here and in other packages, to a struct type.
// known is false when a package on the way can't be had, so that nothing can be said.
func (s *sources) structOf(p *source, f *file, expr ast.Expr) (st *structType, known bool) {
	for range maxHops {
		if lit, ok := expr.(*ast.StructType); ok {
			return &structType{lit.Fields.List, f, p}, true
		}
		if _, pointer := expr.(*ast.StarExpr); pointer {
			return nil, true
		}
		ref, ok := s.refer(p, f, expr)
		if !ok {
			_, selector := expr.(*ast.SelectorExpr)
			return nil, !selector
		}
		if p.path != ref.Path {
			if p = s.pkg(ref.Path); p == nil {
				return nil, false
			}
		}
		decl := p.typ(ref.Name)
		if decl == nil {
			return nil, true
		}
		f, expr = decl.file, decl.spec.Type
	}
	return nil, true
}

// structOf is the struct behind a type declaration.
func (s *sources) structOfDecl(t *typeDecl) (*structType, bool) {
	return s.structOf(t.pkg, t.file, t.spec.Type)
}

// field finds a direct field by name, as gengo's members have it: an embedded
// field is named like its type.
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

// embeds reports whether a struct embeds a type of that name, directly or
// through other embedded structs. An embedded type that can't be looked at
// gets the benefit of the doubt.
func (s *sources) embeds(st *structType, name string) bool {
	return s.finds(st, func(f *ast.Field) bool { return len(f.Names) == 0 }, name, 0)
}

// promotes reports whether a struct has a field of that name, of its own or
// promoted from embedded structs, with the same doubts as embeds.
func (s *sources) promotes(st *structType, name string) bool {
	return s.finds(st, func(*ast.Field) bool { return true }, name, 0)
}

// finds looks for the outermost field of that name and asks whether it will do.
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
			continue // apimachinery's, which isn't there yet
		}
		if !known || inner != nil && s.finds(inner, will, name, hops+1) {
			return true
		}
	}
	return false
}

// tagText is a field's tag, with its quotes.
func tagText(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	return field.Tag.Value
}

// splitType splits the type name of a tag, "k8s.io/api/autoscaling/v1.Scale".
func splitType(name string) (importPath, typeName string) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}
