package model

import (
	"bytes"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// registrations are the calls of a package that register its types with a scheme.
type registrations struct {
	// types are the types of the package that the calls name.
	types []string
	// first is the first such call, nil if there is none.
	first ast.Node
	// empty is a call without objects; marked is a call of AddToGroupVersion, which
	// usually follows one with objects.
	empty, marked ast.Node
	// elsewhere is true if a function passes a scheme to code that may register more.
	elsewhere bool
	// unclear is true if the types of a call's objects don't follow from its syntax (a
	// variable, a slice, the result of a function), or if the call is generated.
	unclear bool
}

// schemeMethods are the methods of runtime.Scheme that register objects. All of them
// take a group and version, or a kind, before the objects.
var schemeMethods = []string{"AddKnownTypes", "AddKnownTypeWithName", "AddUnversionedTypes"}

// checkRegisteredTypes warns of kinds, and of their lists, that the package doesn't
// register with a scheme: clients send such objects without kind and version, and fakes
// fail. A false warning would be worse than none, so it warns only if every registering
// call of the package has the usual form, from which the types follow.
func (s *session) checkRegisteredTypes(p *candidate) {
	var found registrations
	for _, f := range p.src.files {
		if f.syntax != nil {
			found.read(p.src, f)
		}
	}
	// Without an example of a call the advice would be guesswork.
	at, how := found.whereToRegister()
	if at == nil || found.unclear {
		return
	}
	missing := map[*Kind][]string{}
	for _, kind := range p.kinds {
		if names := found.missing(p.src, kind); len(names) > 0 {
			missing[kind] = names
		}
	}
	// Last, because it reads files that nothing else reads.
	if len(missing) == 0 || registersUnseen(p.src) {
		return
	}
	call := s.fset.Position(at.Pos())
	for kind, names := range missing {
		effect := "requests have no kind and version, and fakes fail"
		if names[0] != kind.Name {
			effect = "fakes can't list it"
		}
		s.Warnf(kind.Pos, "nothing registers %s with the scheme: %s; add &%s{} %s %s:%d",
			strings.Join(names, " and "), effect, strings.Join(names, "{}, &"), how, call.Filename, call.Line)
	}
}

// whereToRegister returns the call that shows where to register a type, and the words that precede
// its position in the message. It returns nil if other code may register all types.
func (r *registrations) whereToRegister() (call ast.Node, how string) {
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

// missing returns the kind and its list as far as they have to be registered and no call
// names them.
func (r *registrations) missing(src *source, kind *Kind) []string {
	// For hub types the scheme calls install packages instead of this one (installPackages
	// of package generators), and without verbs nothing is encoded.
	if kind.NoVerbs || kind.hub {
		return nil
	}
	var names []string
	if !slices.Contains(r.types, kind.Name) {
		names = append(names, kind.Name)
	}
	// A list that is an alias may be registered by its other name.
	list := kind.Name + "List"
	if decl := src.typ(list); kind.Verb["list"] && decl != nil && !decl.spec.Assign.IsValid() &&
		!slices.Contains(r.types, list) {
		names = append(names, list)
	}
	return names
}

// read adds the calls of a file.
func (r *registrations) read(src *source, f *file) {
	mentions, calls := 0, 0
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			return false // most of an API package is types, which have no calls
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
				// Register of controller-runtime's SchemeBuilder takes objects, that
				// of apimachinery's takes functions.
				r.objects(src, n, slices.DeleteFunc(slices.Clone(n.Args), isFunc))
			}
		}
		return true
	})
	// A method that is mentioned and not called is passed on as a value.
	r.unclear = r.unclear || mentions > calls || mentions > 0 && (f.ignored || ast.IsGenerated(f.syntax))
}

// uses examines what a function does with its parameters of type Scheme. Passing one to
// another function as the only argument is harmless: a function of this package is
// examined as well, and one of another package can't refer to its types.
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
	// known are the mentions of a scheme that are explained; any other may register types.
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

// isFunc reports whether an argument is a function rather than an object: a name or a
// function literal, as objects are literals.
func isFunc(arg ast.Expr) bool {
	switch arg.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.FuncLit:
		return true
	}
	return false
}

// objects adds the objects that a call registers.
func (r *registrations) objects(src *source, call *ast.CallExpr, objects []ast.Expr) {
	r.unclear = r.unclear || call.Ellipsis.IsValid()
	for _, object := range objects {
		typ := literalType(object)
		if _, foreign := typ.(*ast.SelectorExpr); foreign {
			continue // a type of another package, such as metav1.Status
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

// literalType returns T for &T{} and new(T), nil for other expressions.
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

// registersUnseen reports whether a file that wasn't parsed, because it is generated or
// for another platform, may register types.
func registersUnseen(s *source) bool {
	return slices.ContainsFunc(s.files, func(f *file) bool {
		return f.syntax == nil && (!f.read() || bytes.Contains(f.text, []byte("AddKnownType")) ||
			bytes.Contains(f.text, []byte("SchemeBuilder")))
	})
}
