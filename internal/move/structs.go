package move

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// structs knows the types that a move changes. Most types of our packages are client-go's own, by alias; the
// others, such as the struct DeltaFIFO, are different types, so code on both sides of a value of one has to
// move together.
type structs struct {
	paths   map[string]string
	library *library
	local   map[string]bool
	deep    bool
}

// changes reports whether the move changes a type: it is declared in a package that moves, and the name means
// another type in the package that replaces this one.
func (s *structs) changes(name *types.TypeName) bool {
	if name.Pkg() == nil || s.paths[name.Pkg().Path()] == "" {
		return false
	}
	to, err := s.library.Import(s.paths[name.Pkg().Path()])
	if err != nil {
		return false
	}
	same, ok := to.Scope().Lookup(name.Name()).(*types.TypeName)
	return !ok || named(same.Type()) != name
}

// named returns the name of the declared type behind a type and its aliases, nil if there is none.
func named(t types.Type) *types.TypeName {
	if alias, ok := t.(*types.Alias); ok && alias.TypeParams().Len() > 0 {
		t = alias.Rhs()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// in returns the first type that the move changes among those that a type consists of, nil if there is none.
// It looks at the names of declared types only, or, with deep, into those that the module declares.
func (s *structs) in(t types.Type, seen map[types.Type]bool) *types.TypeName {
	if t == nil || seen[t] {
		return nil
	}
	seen[t] = true
	first := func(all ...types.Type) *types.TypeName {
		for _, t := range all {
			if found := s.in(t, seen); found != nil {
				return found
			}
		}
		return nil
	}
	switch t := t.(type) {
	case *types.Alias:
		return s.in(types.Unalias(t), seen)
	case *types.Named:
		if s.changes(t.Origin().Obj()) {
			return t.Origin().Obj()
		}
		for arg := range t.TypeArgs().Types() {
			if found := s.in(arg, seen); found != nil {
				return found
			}
		}
		if pkg := t.Obj().Pkg(); s.deep && pkg != nil && s.local[strings.TrimSuffix(pkg.Path(), "_test")] {
			return s.in(t.Underlying(), seen)
		}
	case *types.Pointer:
		return s.in(t.Elem(), seen)
	case *types.Slice:
		return s.in(t.Elem(), seen)
	case *types.Array:
		return s.in(t.Elem(), seen)
	case *types.Chan:
		return s.in(t.Elem(), seen)
	case *types.Map:
		return first(t.Key(), t.Elem())
	case *types.Signature:
		return first(t.Params(), t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if found := s.in(v.Type(), seen); found != nil {
				return found
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if found := s.in(f.Type(), seen); found != nil {
				return found
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if found := s.in(m.Type(), seen); found != nil {
				return found
			}
		}
	}
	return nil
}

// use is a name in a file whose type has one that the move changes.
type use struct {
	at      token.Position
	object  types.Object
	changes *types.TypeName
}

// uses returns such names in a package, of objects of other packages that don't move, by their positions.
func (s *structs) uses(pkg *checkedPackage, files *token.FileSet) (found []use) {
	known := map[types.Object]*types.TypeName{}
	for _, file := range pkg.syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			object := pkg.info.Uses[id]
			if object == nil || object.Pkg() == nil || object.Pkg() == pkg.types ||
				s.paths[object.Pkg().Path()] != "" {
				return true
			}
			changed, ok := known[object]
			if !ok {
				changed = s.in(object.Type(), map[types.Type]bool{})
				known[object] = changed
			}
			if changed != nil {
				found = append(found, use{files.PositionFor(id.Pos(), false), object, changed})
			}
			return true
		})
	}
	return found
}

// link connects two units by a type that the move changes: a value of it goes from one to the other.
type link struct {
	from, to string
	changes  *types.TypeName
}

// links returns the connections between the units of the module. With deep, they include those by types that
// contain one that changes, of which the other unit may know nothing.
func (s structs) links(all *checked, deep bool) (found []link) {
	s.deep = deep
	known := map[[2]string]bool{}
	for _, pkg := range all.bodies {
		for _, u := range s.uses(pkg, all.files) {
			to := strings.TrimSuffix(u.object.Pkg().Path(), "_test")
			if pair := [2]string{pkg.unit, to}; s.local[to] && to != pkg.unit && !known[pair] {
				known[pair] = true
				found = append(found, link{pkg.unit, to, u.changes})
			}
		}
	}
	return found
}

// connected returns the units that are connected with one, directly or not, each with the link that leads
// to it.
func connected(unit string, links []link) map[string]link {
	found := map[string]link{}
	for next := []string{unit}; len(next) > 0; next = next[1:] {
		for _, l := range links {
			for _, pair := range [][2]string{{l.from, l.to}, {l.to, l.from}} {
				if _, ok := found[pair[1]]; pair[0] == next[0] && pair[1] != unit && !ok {
					found[pair[1]] = l
					next = append(next, pair[1])
				}
			}
		}
	}
	return found
}

// typeName returns the name of a type for messages: cache.DeltaFIFO.
func typeName(name *types.TypeName) string { return name.Pkg().Name() + "." + name.Name() }

// foreign returns the uses of functions of other modules with a type that the move changes: they need the
// type of the package that moves.
func (s *structs) foreign(all *checked) (found []use) {
	for _, pkg := range all.bodies {
		for _, u := range s.uses(pkg, all.files) {
			_, isFunction := u.object.(*types.Func)
			to := u.object.Pkg().Path()
			if isFunction && !s.local[strings.TrimSuffix(to, "_test")] && !isOwn(to) && !s.isSource(to) {
				found = append(found, u)
			}
		}
	}
	return found
}

// isSource reports whether a package is one of those between which imports move.
func (s *structs) isSource(path string) bool {
	for from, to := range s.paths {
		if path == from || path == to {
			return true
		}
	}
	return false
}
