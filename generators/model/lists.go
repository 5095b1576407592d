package model

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
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
				closest, second := index.of(n.Name.Pos())
				s.checkMarkers(p.src, f, n.Type, second, closest)
			case *ast.Field:
				closest, _ := index.of(n.Pos())
				s.checkMarkers(p.src, f, n.Type, closest)
			}
			return true
		})
	}
}

// checkMarkers checks the markers above a type or a field.
func (s *session) checkMarkers(p *source, f *file, typ ast.Expr, groups ...*ast.CommentGroup) {
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
			if st == nil {
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
