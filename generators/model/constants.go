package model

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// defaultRef is a marker whose value is a constant: of the same package, or of
// another with its import path before the name.
var defaultRef = regexp.MustCompile(`^( *\+default=)ref\(([^"()]+)\)$`)

// withDefaults replaces constants in the markers of a field by their values, if
// they are literals of packages that are known.
func (r *typeReader) withDefaults(p *source, lines []string) []string {
	for i, line := range lines {
		m := defaultRef.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		path, name := splitType(m[2])
		if path != "" {
			p = r.byPath[path]
		}
		if p == nil {
			continue
		}
		if value := p.constant(name); value != "" {
			lines[i] = m[1] + value
		}
	}
	return lines
}

// constant is the literal that a constant of the package is, converted or not,
// as source; "" for any other.
func (s *source) constant(name string) string {
	value, _ := s.value(token.CONST, name)
	return literal(value)
}

// value is what a package's constant or variable is declared as, nil if there
// is none, or none by itself.
func (s *source) value(tok token.Token, name string) (ast.Expr, *file) {
	if !s.declares(name) {
		return nil, nil
	}
	for _, f := range s.files {
		if f.syntax == nil {
			continue
		}
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != tok {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.ValueSpec)
				i := slices.IndexFunc(spec.Names, func(n *ast.Ident) bool { return n.Name == name })
				if i >= 0 && len(spec.Values) == len(spec.Names) {
					return spec.Values[i], f
				}
			}
		}
	}
	return nil, nil
}

func literal(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		e = call.Args[0]
	}
	if lit, ok := e.(*ast.BasicLit); ok && !strings.HasPrefix(lit.Value, "`") {
		return lit.Value
	}
	return ""
}
