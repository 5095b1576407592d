package model

import (
	"bytes"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// registrations are the calls of a package that enter its types in a scheme.
type registrations struct {
	// types are the types of the package that the calls name.
	types []string
	// first is the first such call, nil if there is none.
	first ast.Node
	// empty is a call that names none at all, marked one of AddToGroupVersion,
	// which as a rule stands beside them.
	empty, marked ast.Node
	// elsewhere is true when a function hands a scheme to what may register more.
	elsewhere bool
	// unclear is true when a call takes objects whose types can't be read off
	// it (a variable, a slice, what a function returns), or isn't hand-written.
	unclear bool
}

// schemeMethods are the methods of runtime.Scheme that register objects. All
// of them take a group and version, or a kind, before the objects.
var schemeMethods = []string{"AddKnownTypes", "AddKnownTypeWithName", "AddUnversionedTypes"}

// checkRegistration warns of kinds, and lists of them, that the package doesn't
// register: clients, upstream's too, send such objects without kind and version,
// and fakes don't know them. It speaks up only where every call that registers
// says in the usual form what it registers.
func (l *loader) checkRegistration(p *candidate) {
	var found registrations
	for _, f := range p.src.files {
		if f.syntax != nil {
			found.read(p.src, f)
		}
	}
	at, how := found.place()
	if at == nil || found.unclear {
		return
	}
	missing := map[*Kind][]string{}
	for _, kind := range p.kinds {
		if names := found.missing(p.src, kind); len(names) > 0 {
			missing[kind] = names
		}
	}
	if len(missing) == 0 || p.src.registersUnseen() {
		return
	}
	call := l.fset.Position(at.Pos())
	for kind, names := range missing {
		effect := "requests have no kind and version, and fakes fail"
		if names[0] != kind.Name {
			effect = "fakes can't list it"
		}
		l.warn(kind.Pos, "nothing registers %s with the scheme: %s; add &%s{} %s %s:%d",
			strings.Join(names, " and "), effect, strings.Join(names, "{}, &"), how, call.Filename, call.Line)
	}
}

// place is the call that says how to register a type, and how to do it there;
// nil where some other code may register all of them.
func (r *registrations) place() (call ast.Node, how string) {
	switch {
	case r.first != nil:
		return r.first, "as in"
	case r.elsewhere:
	case r.empty != nil:
		return r.empty, "in"
	case r.marked != nil:
		return r.marked, "by scheme.AddKnownTypes before"
	}
	return nil, ""
}

// missing are those of a kind's types that go through the scheme and that no
// call names.
func (r *registrations) missing(src *source, kind *Kind) []string {
	if kind.NoVerbs || kind.hub {
		return nil
	}
	var names []string
	if !slices.Contains(r.types, kind.Name) {
		names = append(names, kind.Name)
	}
	// An alias is registered under either name.
	list := kind.Name + "List"
	if decl := src.typ(list); kind.Verb["list"] && decl != nil && !decl.spec.Assign.IsValid() && !slices.Contains(r.types, list) {
		names = append(names, list)
	}
	return names
}

// read enters the calls of a file.
func (r *registrations) read(src *source, f *file) {
	mentions, calls := 0, 0
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			return false // most of an API package, and no call in it
		case *ast.FuncDecl:
			r.uses(n.Type, n.Body)
		case *ast.FuncLit:
			r.uses(n.Type, n.Body)
		case *ast.SelectorExpr:
			if slices.Contains(schemeMethods, n.Sel.Name) {
				mentions++
			}
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			switch {
			case !ok:
			case slices.Contains(schemeMethods, method.Sel.Name):
				calls++
				r.objects(src, n, n.Args[min(1, len(n.Args)):])
				if r.empty == nil && len(n.Args) == 1 {
					r.empty = n
				}
			case method.Sel.Name == "Register" && strings.HasSuffix(typeName(method.X), "SchemeBuilder"):
				// Either controller-runtime's, which takes objects, or
				// apimachinery's, which takes functions.
				r.objects(src, n, slices.DeleteFunc(slices.Clone(n.Args), isFunc))
			}
		}
		return true
	})
	r.unclear = r.unclear || mentions > calls || mentions > 0 && (f.ignored || ast.IsGenerated(f.syntax))
}

// uses reads what a function does with the schemes that it takes. Handing one on
// to a function alone is fine: one of this package is read as well, and one of
// another can't name the types.
func (r *registrations) uses(typ *ast.FuncType, body *ast.BlockStmt) {
	if body == nil {
		return
	}
	schemes := map[string]bool{}
	for _, param := range typ.Params.List {
		for _, name := range param.Names {
			schemes[name.Name] = typeName(param.Type) == "Scheme"
		}
	}
	isScheme := func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return ok && schemes[name.Name]
	}
	known := map[ast.Expr]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := typeName(n.Fun)
			if method, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(schemeMethods, name) {
				known[method.X] = true
			}
			if len(n.Args) == 0 || !isScheme(n.Args[0]) {
				break
			}
			known[n.Args[0]] = len(n.Args) == 1 || name == "AddToGroupVersion"
			if name == "AddToGroupVersion" && r.marked == nil {
				r.marked = n
			}
		case *ast.Ident:
			r.elsewhere = r.elsewhere || isScheme(n) && !known[n]
		}
		return true
	})
}

// isFunc reports whether an argument can't be an object: a name, which is that
// of a function, or a function itself.
func isFunc(arg ast.Expr) bool {
	switch arg.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.FuncLit:
		return true
	}
	return false
}

// objects enters the objects that a call registers.
func (r *registrations) objects(src *source, call *ast.CallExpr, objects []ast.Expr) {
	r.unclear = r.unclear || call.Ellipsis.IsValid()
	for _, object := range objects {
		typ := literalType(object)
		if _, foreign := typ.(*ast.SelectorExpr); foreign {
			continue
		}
		name, ok := typ.(*ast.Ident)
		if !ok {
			r.unclear = true
			continue
		}
		if decl := src.typ(name.Name); decl == nil || decl.spec.Assign.IsValid() {
			r.unclear = true
		}
		r.types = append(r.types, name.Name)
		if r.first == nil {
			r.first = call
		}
	}
}

// literalType is T for &T{} and new(T), nil for anything else.
func literalType(expr ast.Expr) ast.Expr {
	switch expr := expr.(type) {
	case *ast.UnaryExpr:
		if literal, ok := expr.X.(*ast.CompositeLit); ok && expr.Op == token.AND {
			return literal.Type
		}
	case *ast.CallExpr:
		if fun, ok := expr.Fun.(*ast.Ident); ok && fun.Name == "new" && len(expr.Args) == 1 {
			return expr.Args[0]
		}
	}
	return nil
}

// registersUnseen reports whether a file that wasn't parsed, as it is generated
// or for another platform, may register types.
func (s *source) registersUnseen() bool {
	return slices.ContainsFunc(s.files, func(f *file) bool {
		return f.syntax == nil && (!f.read() || bytes.Contains(f.text, []byte("AddKnownType")) || bytes.Contains(f.text, []byte("SchemeBuilder")))
	})
}
