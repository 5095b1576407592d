package model

import (
	"fmt"
	"go/ast"
	"go/token"
)

// defaultsBuilder finds out how the defaults of a type are set. Like upstream, it reports unsupported
// defaults at the field that needs them.
type defaultsBuilder struct {
	*session
	*shapes
	// functions are the hand-written functions by type.
	functions map[TypeName]*defaultFunctions
	// everything is true if a function is for a type that known types may contain, so that these have
	// to be read, too.
	everything bool
	// commented are the packages whose types may have a +default of their own: those that are named,
	// as in gengo.
	commented map[*source]bool
	indexes   map[*file]comments

	// path is the package that the functions are made for, made the types that get one.
	path string
	made map[TypeName]bool
	// building are the types that enclose the current one, cuts counts the recursive references to
	// them.
	building map[TypeName]bool
	cuts     int
	// none are the types for which there is nothing to do.
	none map[TypeName]bool
	// pos is the position of the current field or type, what its description.
	pos  token.Pos
	what string
	// unwritten counts the enclosing maps: no code is written for their values.
	unwritten int
}

// defaultFunctions are the functions that set defaults of a type.
type defaultFunctions struct {
	// object sets all defaults. base sets those of the type itself, or all if covers is true.
	object, base TypeName
	covers       bool
	// additional are called after base.
	additional []TypeName
}

// newDefaultsBuilder returns a builder without functions.
func newDefaultsBuilder(s *session) *defaultsBuilder {
	return &defaultsBuilder{session: s, shapes: newShapes(s.sources),
		functions: map[TypeName]*defaultFunctions{}, commented: map[*source]bool{},
		indexes: map[*file]comments{}, building: map[TypeName]bool{}, none: map[TypeName]bool{}}
}

// beginPackage starts the functions of a package.
func (b *defaultsBuilder) beginPackage(path string) { b.path, b.made = path, map[TypeName]bool{} }

// index returns the comments of a file, cached.
func (b *defaultsBuilder) index(f *file) comments {
	index, ok := b.indexes[f]
	if !ok {
		index = newComments(b.fset, f.syntax)
		b.indexes[f] = index
	}
	return index
}

// refuse reports a type for which upstream fails.
func (b *defaultsBuilder) refuse(format string, args ...any) {
	b.Errorf(b.fset.Position(b.pos), "%s", b.what+" "+fmt.Sprintf(format, args...))
}

// doubt reports a type for which upstream generates code that doesn't compile.
func (b *defaultsBuilder) doubt(format string, args ...any) {
	if b.unwritten == 0 {
		b.StrictErrorf(b.fset.Position(b.pos), "%s", b.what+" "+fmt.Sprintf(format, args...))
	}
}

// real returns the shape of a known type from its declaration, if its package can be found.
func (b *defaultsBuilder) real(s *shape) *shape {
	if s.known == nil {
		return s
	}
	src := b.pkg(s.name.Path)
	if src == nil {
		return s
	}
	return b.declared(src, s.name.Name, nil)
}

// root returns the node for the parameter of a type's function, nil if there is nothing to do.
func (b *defaultsBuilder) root(s *shape) *DefaultNode {
	b.pos, b.what = b.byPath[s.name.Path].types[s.name.Name].spec.Name.Pos(), "type "+s.name.Name
	return b.build(s, true, true)
}

// build returns the node for a value, nil if there is nothing to do. root is true for the parameter of
// the function, pointed if the function has a pointer to the value.
func (b *defaultsBuilder) build(s *shape, root, pointed bool) *DefaultNode {
	if b.none[s.name] {
		return nil
	}
	if b.everything {
		s = b.real(s)
	}
	node := &DefaultNode{Elem: root}
	if b.calls(node, s, root) {
		return node
	}
	cuts := b.cuts
	if named := s.name.Path != ""; named && b.building[s.name] {
		b.cuts++ // its functions are called where it occurs first
		return nil
	} else if named {
		b.building[s.name] = true
		defer delete(b.building, s.name)
	}
	switch {
	case s.form == structForm:
		b.fields(node, s)
	case s.form == pointerForm:
		b.pointer(node, s, pointed)
	case s.name.Path != "" && s.form.reference():
		b.child(node, s.underlying(), pointed)
	case s.name.Path != "" && s.basic != "":
		b.child(node, &shape{form: plainForm, name: TypeName{Name: s.basic}}, pointed)
	case s.form == sliceForm, s.form == arrayForm:
		b.elements(node, s, pointed)
	case s.form == mapForm:
		b.values(node, s, pointed)
	}
	if len(node.Calls)+len(node.Children) > 0 {
		return node
	}
	if s.name.Path != "" && s.args == nil && b.cuts == cuts {
		b.none[s.name] = true
	}
	return nil
}

// calls adds the functions of a type. It reports whether they set all defaults.
func (b *defaultsBuilder) calls(node *DefaultNode, s *shape, root bool) (all bool) {
	if b.made[s.name] && !root {
		node.Calls = []TypeName{{b.path, setObjectDefaults + s.name.Name}}
		return true
	}
	functions := b.functions[s.name]
	switch {
	case functions == nil:
		return false
	case functions.object.Name != "":
		node.Calls = []TypeName{functions.object}
		return true
	case functions.base.Name != "":
		node.Calls = append(node.Calls, functions.base)
	}
	if functions.covers {
		return true
	}
	node.Calls = append(node.Calls, functions.additional...)
	return false
}

// child adds a node for the same value, seen as its underlying type.
func (b *defaultsBuilder) child(node *DefaultNode, s *shape, pointed bool) {
	if child := b.build(s, false, pointed); child != nil {
		node.Children = append(node.Children, child)
	}
}

// fields adds the nodes for the fields of a struct.
func (b *defaultsBuilder) fields(node *DefaultNode, s *shape) {
	pos, what := b.pos, b.what
	defer func() { b.pos, b.what = pos, what }()
	for _, f := range s.fields() {
		if f.name == "_" { // nothing can be assigned to it
			continue
		}
		b.pos, b.what = f.pos, fmt.Sprintf("field %s of %s", f.name, what)
		if s.name.Name != "" {
			b.what = fmt.Sprintf("field %s of type %s", f.name, s.name.Name)
		}
		t := b.shapeOf(s.at, f.expr)
		closest, _ := b.index(s.at.file).forDeclaration(f.pos)
		child := b.build(t, false, false)
		owner := s.name.Path
		if child != nil { // where upstream looks for a constant without a package
			owner = t.name.Path
		}
		if child = b.mark(child, t, closest, owner); child == nil {
			continue
		}
		if !token.IsExported(f.name) && s.at.pkg.path != b.path {
			b.doubt("has defaults and isn't exported, so that code in package %s can't set them; export it",
				b.path)
		}
		child.Field = f.name
		node.Children = append(node.Children, child)
	}
}

// pointer adds the node for the target of a pointer.
func (b *defaultsBuilder) pointer(node *DefaultNode, s *shape, pointed bool) {
	child := b.build(b.elem(s), false, true)
	if child == nil {
		return
	}
	if pointed {
		b.doubt("is a pointer to a pointer, behind which defaults can't be set; leave out one")
	}
	child.Elem = true
	node.Children = append(node.Children, child)
}

// elements adds the node for the elements of a slice or an array.
func (b *defaultsBuilder) elements(node *DefaultNode, s *shape, pointed bool) {
	e := b.elem(s)
	child := b.build(e, false, e.form != pointerForm)
	if child == nil {
		child = b.mark(nil, e, b.comment(e), e.name.Path)
	}
	if child == nil {
		return
	}
	if pointed && s.form == sliceForm {
		b.doubt("has elements whose defaults can't be set, as it is a slice in another or behind a pointer; put " +
			"a struct in between")
	}
	child.Index, child.Elem = true, e.form == pointerForm
	node.Children = append(node.Children, child)
}

// values adds the node for the values of a map. As in upstream, nothing calls their functions.
func (b *defaultsBuilder) values(node *DefaultNode, s *shape, pointed bool) {
	e := b.elem(s)
	b.unwritten++
	child := b.build(e, false, false)
	b.unwritten--
	if child == nil {
		child = b.mark(nil, e, b.comment(e), e.name.Path)
	}
	if child == nil {
		return
	}
	if pointed && child.Default != nil {
		b.doubt("has values whose defaults can't be set, as it is a map in a slice or behind a pointer; put a " +
			"struct in between")
	}
	child.Key = true
	node.Children = append(node.Children, child)
}

// comment returns the closest comment of a declared type, nil for packages that are not commented.
func (b *defaultsBuilder) comment(s *shape) *ast.CommentGroup {
	src := b.byPath[s.name.Path]
	if src == nil || !b.commented[src] {
		return nil
	}
	decl := src.typ(s.name.Name)
	if decl == nil {
		return nil
	}
	closest, _ := b.index(decl.file).forDeclaration(decl.spec.Name.Pos())
	return closest
}
