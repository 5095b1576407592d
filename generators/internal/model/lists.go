package model

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// mergeMarkers are the markers that say how lists, maps and structs are merged, with the
// values that openapi-gen knows.
var mergeMarkers = map[string][]string{
	"listType":   {"atomic", "map", "set"},
	"mapType":    {"atomic", "granular"},
	"structType": {"atomic", "granular"},
}

// checkMerging reports invalid merge markers of a package's types and fields: the
// default is used in their place. Only apply configurations are generated from them.
func (s *session) checkMerging(p *candidate) {
	if !s.cfg.Strict && !s.cfg.has(ApplyConfigurations) {
		return
	}
	for _, f := range p.src.files {
		if f.syntax == nil {
			continue
		}
		index := newComments(s.fset, f.syntax)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.TypeSpec:
				closest, second := index.forDeclaration(n.Name.Pos())
				s.checkMarkers(p.src, f, n.Type, second, closest)
			case *ast.Field:
				closest, _ := index.forDeclaration(n.Pos())
				s.checkMarkers(p.src, f, n.Type, closest)
			}
			return true
		})
	}
}

// checkMarkers checks the markers above a type or a field.
func (s *session) checkMarkers(p *source, f *file, typ ast.Expr, groups ...*ast.CommentGroup) {
	s.checkListType(p, f, typ, groups...)
	for _, group := range groups {
		if group == nil || !mentions(group, "listType", "listMapKey", "mapType", "structType") {
			continue
		}
		for _, tag := range marker.Scan(s.fset, group) {
			// Without apply configurations the output doesn't depend on it.
			warning := !s.cfg.Strict || !s.cfg.has(ApplyConfigurations)
			if values := mergeMarkers[tag.Name]; values != nil && !slices.Contains(values, tag.Value) {
				s.Report(warning, tag.Pos, "+%s takes %s, not %q%s", tag.Name, oneOf(values), tag.Value,
					marker.Suggest(tag.Value, values))
			}
			if tag.Name != "listMapKey" {
				continue
			}
			if keys, known := s.elementKeys(p, f, typ); known && !slices.Contains(keys, tag.Value) {
				s.Report(warning, tag.Pos, "+listMapKey names %q, which is no key of the list's elements%s",
					tag.Value, marker.Suggest(tag.Value, keys))
			}
		}
	}
}

// checkListType reports lists that are merged by key and have none, and types that are no lists and are
// merged like one.
func (s *session) checkListType(p *source, f *file, typ ast.Expr, groups ...*ast.CommentGroup) {
	tags := marker.Scan(s.fset, groups...)
	i := slices.IndexFunc(tags, func(t marker.Tag) bool {
		return t.Name == "listType" && (t.Value == "map" || t.Value == "set")
	})
	if i < 0 {
		return
	}
	tag := tags[i]
	isKey := func(t marker.Tag) bool { return strings.TrimPrefix(t.Name, "k8s:") == "listMapKey" }
	elem, list, known := s.listElem(p, f, typ)
	switch {
	case known && !list:
		s.StrictErrorf(tag.Pos, "+%s is above something that is no list; remove it", tag.Text)
	case known && tag.Value == "map" && s.scalar(elem):
		s.StrictErrorf(tag.Pos, "+listType=map is above a list whose elements are no objects, and have no keys; "+
			"write +listType=set or +listType=atomic")
	case tag.Value == "map" && !slices.ContainsFunc(tags, isKey):
		s.StrictErrorf(tag.Pos, "+listType=map has no key, by which elements are merged; write +listMapKey=name "+
			"below it, with the key of a field of the elements, or +listType=atomic")
	}
}

// listElem returns the elements of a list. known is false if it isn't known whether a type is a list.
func (s *session) listElem(p *source, f *file, typ ast.Expr) (elem shapeAt, list, known bool) {
	for range maxHops {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
			continue
		case *ast.ParenExpr:
			typ = t.X
			continue
		case *ast.ArrayType:
			if name := typeName(t.Elt); t.Len == nil && (name == "byte" || name == "uint8") {
				return shapeAt{}, false, true // a string in JSON
			}
			return shapeAt{p, f, t.Elt}, true, true
		case *ast.StructType, *ast.MapType:
			return shapeAt{}, false, true
		}
		ref, ok := s.refer(p, f, typ)
		if !ok {
			return shapeAt{}, false, false
		}
		if ref.Path != p.path {
			if p = s.declaring(ref); p == nil {
				return shapeAt{}, false, false
			}
		}
		decl := p.typ(ref.Name)
		method, _ := s.marshaler(TypeName{p.path, ref.Name})
		switch {
		case decl == nil: // a predeclared type, or a type parameter
			return shapeAt{}, false, types.Universe.Lookup(ref.Name) != nil && ref.Name != "any"
		case decl.spec.TypeParams != nil:
			return shapeAt{}, false, false
		case method != "":
			return shapeAt{}, false, false
		}
		f, typ = decl.file, decl.spec.Type
	}
	return shapeAt{}, false, false
}

// shapeAt is a type expression and where it is written.
type shapeAt struct {
	pkg  *source
	file *file
	expr ast.Expr
}

// scalar reports whether a type is certainly a predeclared one, or declared as one.
func (s *session) scalar(at shapeAt) bool {
	p, f, typ := at.pkg, at.file, at.expr
	for range maxHops {
		if _, ok := typ.(*ast.Ident); !ok {
			return false
		}
		ref, _ := s.refer(p, f, typ)
		decl := p.typ(ref.Name)
		if decl == nil {
			return types.Universe.Lookup(ref.Name) != nil && ref.Name != "any"
		}
		if decl.spec.TypeParams != nil {
			return false
		}
		f, typ = decl.file, decl.spec.Type
	}
	return false
}

// oneOf joins words by commas and "or".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// elementKeys returns the keys in JSON of the elements of a list. known is false if they
// don't follow from the syntax that can be found.
func (s *session) elementKeys(p *source, f *file, typ ast.Expr) (keys []string, known bool) {
	for range maxHops {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
			continue
		case *ast.ParenExpr:
			typ = t.X
			continue
		case *ast.ArrayType:
			elem := t.Elt
			if star, ok := elem.(*ast.StarExpr); ok {
				elem = star.X
			}
			st, _ := s.structOf(p, f, elem)
			if st == nil || !st.hasJSON() { // internal types have no keys
				return nil, false
			}
			return s.structKeys(st, 0)
		}
		ref, ok := s.refer(p, f, typ)
		if !ok {
			return nil, false
		}
		if ref.Path != p.path {
			if p = s.declaring(ref); p == nil {
				return nil, false
			}
		}
		decl := p.typ(ref.Name)
		if decl == nil || decl.spec.TypeParams != nil {
			return nil, false
		}
		f, typ = decl.file, decl.spec.Type
	}
	return nil, false
}

// hasJSON reports whether a field has a json tag.
func (st *structType) hasJSON() bool {
	tagged := func(f *ast.Field) bool { return strings.Contains(tagText(f), "json:") }
	return slices.ContainsFunc(st.fields, tagged)
}

// structKeys returns the keys in JSON of a struct, those of inlined structs included.
func (s *session) structKeys(st *structType, hops int) (keys []string, known bool) {
	for _, field := range st.fields {
		key, options := jsonKey(field)
		inline := len(field.Names) == 0 && key == "" || slices.Contains(strings.Split(options, ","), "inline")
		switch {
		case inline:
			expr := field.Type
			if star, ok := expr.(*ast.StarExpr); ok {
				expr = star.X
			}
			inner, _ := s.structOf(st.pkg, st.file, expr)
			if inner == nil || hops == maxHops {
				return nil, false
			}
			promoted, ok := s.structKeys(inner, hops+1)
			if !ok {
				return nil, false
			}
			keys = append(keys, promoted...)
		case key != "":
			keys = append(keys, key)
		default: // without a key the field's name is the key
			for _, name := range field.Names {
				keys = append(keys, name.Name)
			}
		}
	}
	return keys, true
}
