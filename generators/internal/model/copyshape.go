package model

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// copyForm is the form of a type's underlying type, as far as copies depend on it.
type copyForm int

const (
	unknownForm copyForm = iota // the declaration wasn't found
	plainForm                   // a number, a string, a boolean
	structForm
	mapForm
	sliceForm
	pointerForm
	arrayForm
	interfaceForm
	parameterForm   // a type parameter
	unsupportedForm // a channel, a function, an unsafe pointer
)

// reference reports whether values of the form are nil or refer to others.
func (f copyForm) reference() bool { return f == mapForm || f == sliceForm || f == pointerForm }

// shape is a type as far as copies depend on it. The types that it refers to are resolved on demand,
// since they may be in packages that nothing else needs.
type shape struct {
	form copyForm
	// name is that of a declared type; without a path it is predeclared, without a name the
	// type is a literal.
	name TypeName
	args []*shape // of a generic type
	// at is where expr, the underlying type, is written.
	at   exprScope
	expr ast.Expr
	// basic is the name of the predeclared type behind a number, a string or a boolean.
	basic string
	// methods are the hand-written ones.
	methods copyMethods
	// known is set for types whose declaration needn't be read.
	known *knownCopy
	// text is how to write a literal type that has no parts; missing is the import path of a package
	// that can't be found, for an unknown type.
	text, missing string
	// unimported is the name of a type whose package the file doesn't import.
	unimported string
}

// exprScope is where a type expression is written, with the arguments of its type parameters.
type exprScope struct {
	pkg  *source
	file *file
	args map[string]*shape
}

// copyMethods are the hand-written DeepCopy and DeepCopyInto of a type.
type copyMethods struct {
	copy, into *ast.FuncDecl
	// pointer is true if DeepCopy returns a pointer.
	pointer bool
	// wrong is one of the two that generated code can't call.
	wrong *ast.FuncDecl
}

// manual reports which of the methods of a type are hand-written, and whether DeepCopy returns a
// pointer.
func (s *shape) manual() (copies, into, pointer bool) {
	if s.known != nil {
		return s.known.copy, s.known.into, s.known.pointer
	}
	return s.methods.copy != nil, s.methods.into != nil, s.methods.pointer
}

// returnsPointer reports whether DeepCopy returns a pointer: as it is written by hand, or as it is
// generated beside a hand-written DeepCopyInto.
func (s *shape) returnsPointer() bool {
	if copies, _, pointer := s.manual(); copies {
		return pointer
	}
	return !s.form.reference()
}

// copyMethod is a method whose name begins with DeepCopy.
type copyMethod struct {
	receiver string
	decl     *ast.FuncDecl
	file     *file
}

// callable reports whether generated code can call a DeepCopy or DeepCopyInto.
func (m copyMethod) callable() bool {
	one, none := m.decl.Type.Results, m.decl.Type.Params
	if m.decl.Name.Name == "DeepCopyInto" {
		one, none = none, one
	}
	if one.NumFields() != 1 || none.NumFields() != 0 {
		return false
	}
	_, pointer := one.List[0].Type.(*ast.StarExpr)
	return typeName(one.List[0].Type) == m.receiver && (pointer || m.decl.Name.Name == "DeepCopy")
}

// shapes finds the shapes of types.
type shapes struct {
	read  *sources
	named map[TypeName]*shape
	// outputs are the files that are about to be replaced, by package: what they declare
	// doesn't count.
	outputs map[*source]string
	// entered are the structs that assigns has entered, nesting counts the generic types that are
	// being read: code that doesn't compile may have infinite types.
	entered map[TypeName]bool
	nesting int
}

// newShapes returns shapes of the types of the sources.
func newShapes(s *sources) *shapes {
	return &shapes{read: s, named: map[TypeName]*shape{}, outputs: map[*source]string{},
		entered: map[TypeName]bool{}}
}

// keep records that the file of a package is not replaced after all.
func (r *shapes) keep(src *source) {
	delete(r.outputs, src)
	for name := range r.named {
		if name.Path == src.path {
			delete(r.named, name)
		}
	}
}

// shapeOf returns the shape of a type expression.
func (r *shapes) shapeOf(at exprScope, expr ast.Expr) *shape {
	literal := func(form copyForm) *shape { return &shape{form: form, at: at, expr: expr} }
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return r.shapeOf(at, e.X)
	case *ast.StarExpr:
		return literal(pointerForm)
	case *ast.MapType:
		return literal(mapForm)
	case *ast.ArrayType:
		if e.Len != nil {
			return literal(arrayForm)
		}
		return literal(sliceForm)
	case *ast.StructType:
		s := literal(structForm)
		if len(e.Fields.List) == 0 {
			s.text = "struct{}"
		}
		return s
	case *ast.InterfaceType:
		s := literal(interfaceForm)
		if len(e.Methods.List) == 0 {
			s.text = "any"
		}
		return s
	case *ast.Ident:
		return r.ident(at, e)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			break
		}
		switch path := r.read.importPath(at.file, x.Name); path {
		case "unsafe", "C":
		case "":
			s := literal(unsupportedForm)
			s.unimported = x.Name + "." + e.Sel.Name
			return s
		default:
			return r.foreign(TypeName{path, e.Sel.Name}, nil)
		}
	case *ast.IndexExpr:
		return r.generic(at, e.X, e.Index)
	case *ast.IndexListExpr:
		return r.generic(at, e.X, e.Indices...)
	}
	return literal(unsupportedForm)
}

// ident returns the shape of a name without a package.
func (r *shapes) ident(at exprScope, e *ast.Ident) *shape {
	if arg := at.args[e.Name]; arg != nil {
		return arg
	}
	predeclared := types.Universe.Lookup(e.Name)
	if at.pkg.types[e.Name] != nil || predeclared == nil {
		return r.declared(at.pkg, e.Name, nil)
	}
	s := &shape{form: plainForm, name: TypeName{Name: e.Name}}
	switch {
	case e.Name == "any":
		return &shape{form: interfaceForm, text: "any"}
	case types.IsInterface(predeclared.Type()):
		s.form = interfaceForm
	case e.Name == "uint8": // as upstream writes it
		s.name.Name = "byte"
	}
	s.basic = s.name.Name
	return s
}

// generic returns the shape of a generic type with arguments.
func (r *shapes) generic(at exprScope, typ ast.Expr, args ...ast.Expr) *shape {
	var shapes []*shape
	r.nesting++
	defer func() { r.nesting-- }()
	if r.nesting > maxHops {
		return &shape{form: unsupportedForm, at: at, expr: typ}
	}
	for _, arg := range args {
		shapes = append(shapes, r.shapeOf(at, arg))
	}
	switch e := typ.(type) {
	case *ast.Ident:
		return r.declared(at.pkg, e.Name, shapes)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return r.foreign(TypeName{r.read.importPath(at.file, x.Name), e.Sel.Name}, shapes)
		}
	}
	return &shape{form: unsupportedForm, at: at, expr: typ}
}

// foreign returns the shape of a type of another package, which is read unless the type is known.
func (r *shapes) foreign(name TypeName, args []*shape) *shape {
	if r.read.byPath[name.Path] == nil { // it wasn't read, or can't be found
		if known := knownCopies[name]; known != nil {
			return &shape{form: known.form, name: name, known: known}
		}
	}
	src := r.read.pkg(name.Path)
	if src == nil {
		return &shape{name: name, missing: name.Path}
	}
	return r.declared(src, name.Name, args)
}

// declared returns the shape of a type that a package declares.
func (r *shapes) declared(src *source, name string, args []*shape) *shape {
	full := TypeName{src.path, name}
	if s := r.named[full]; s != nil && args == nil {
		return s
	}
	decl := src.typ(name)
	if decl == nil {
		return &shape{name: full}
	}
	at := exprScope{src, decl.file, parameters(decl, args)}
	s := &shape{name: full, args: args}
	if args == nil {
		r.named[full] = s // before the underlying type, which may refer to this one
	}
	u := r.shapeOf(at, decl.spec.Type)
	if decl.spec.Assign.IsValid() {
		if args == nil {
			r.named[full] = u
		}
		return u
	}
	if u.known != nil && r.read.pkg(u.name.Path) != nil { // a new type without the methods of the known one
		u = r.declared(r.read.byPath[u.name.Path], u.name.Name, nil)
	}
	s.form, s.at, s.expr, s.basic, s.missing = u.form, u.at, u.expr, u.basic, u.missing
	s.unimported = u.unimported
	s.methods = r.methodsOf(src, name)
	return s
}

// parameters maps the type parameters of a declaration to their arguments.
func parameters(decl *typeDecl, args []*shape) map[string]*shape {
	if decl.spec.TypeParams == nil {
		return nil
	}
	values := map[string]*shape{}
	for _, field := range decl.spec.TypeParams.List {
		for _, n := range field.Names {
			values[n.Name] = &shape{form: parameterForm, name: TypeName{Name: n.Name}}
			if i := len(values) - 1; i < len(args) {
				values[n.Name] = args[i]
			}
		}
	}
	return values
}

// methodsOf returns the hand-written methods of a type. Those in generated files that gengo
// doesn't see don't count.
func (r *shapes) methodsOf(src *source, name string) copyMethods {
	var m copyMethods
	for _, method := range src.copies {
		if method.receiver != name || method.file.ignored || method.file.path == r.outputs[src] {
			continue
		}
		switch method.decl.Name.Name {
		case "DeepCopy":
			m.copy = method.decl
			if results := method.decl.Type.Results; results != nil && len(results.List) > 0 {
				_, m.pointer = results.List[0].Type.(*ast.StarExpr)
			}
		case "DeepCopyInto":
			m.into = method.decl
		default:
			continue // of an interface
		}
		if !method.callable() {
			m.wrong = method.decl
		}
	}
	return m
}

// elem returns the shape of the elements of a map, a slice, an array or a pointer.
func (r *shapes) elem(s *shape) *shape {
	switch e := s.expr.(type) {
	case *ast.StarExpr:
		return r.shapeOf(s.at, e.X)
	case *ast.MapType:
		return r.shapeOf(s.at, e.Value)
	case *ast.ArrayType:
		return r.shapeOf(s.at, e.Elt)
	}
	return &shape{}
}

// key returns the shape of the keys of a map.
func (r *shapes) key(s *shape) *shape { return r.shapeOf(s.at, s.expr.(*ast.MapType).Key) }

// shapeField is a field of a struct.
type shapeField struct {
	name string
	expr ast.Expr
	pos  token.Pos
}

// fields returns the fields of a struct. An embedded one has the name of its type.
func (s *shape) fields() []shapeField {
	st, ok := s.expr.(*ast.StructType)
	if !ok {
		return nil
	}
	var fields []shapeField
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 {
			fields = append(fields, shapeField{typeName(field.Type), field.Type, field.Pos()})
		}
		for _, n := range field.Names {
			fields = append(fields, shapeField{n.Name, field.Type, n.Pos()})
		}
	}
	return fields
}

// underlying returns the shape without its name, for the forms that gengo calls aliases. A pointer
// keeps its name.
func (s *shape) underlying() *shape {
	if s.form != mapForm && s.form != sliceForm {
		return s
	}
	return &shape{form: s.form, at: s.at, expr: s.expr}
}

// plain reports whether an assignment copies a value of the type. As in upstream, a struct with an
// array isn't plain: its methods copy it.
func (r *shapes) plain(s *shape) bool { return r.assigns(s, false) }

// assignable is plain, for arrays and structs with arrays as well.
func (r *shapes) assignable(s *shape) bool { return r.assigns(s, true) }

// assigns is assignable if arrays is true, otherwise plain.
func (r *shapes) assigns(s *shape, arrays bool) bool {
	switch {
	case s.known != nil:
		return s.known.plain
	case s.form == arrayForm:
		return arrays && r.assigns(r.elem(s), arrays)
	case s.form != structForm:
		return s.form == plainForm
	case r.entered[s.name]: // it contains itself, which the compiler reports
		return true
	case s.name.Name != "":
		r.entered[s.name] = true
		defer delete(r.entered, s.name)
	}
	fields := s.fields()
	// The syntax first, as it needs no other package.
	if slices.ContainsFunc(fields, func(f shapeField) bool { return refers(f.expr, arrays) }) {
		return false
	}
	return !slices.ContainsFunc(fields,
		func(f shapeField) bool { return !r.assigns(r.shapeOf(s.at, f.expr), arrays) })
}

// refers reports whether the syntax of a type alone shows that assigns is false for it.
func refers(expr ast.Expr, arrays bool) bool {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return refers(e.X, arrays)
	case *ast.ArrayType:
		return !arrays || e.Len == nil
	case *ast.StarExpr, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType:
		return true
	}
	return false
}

// typeExpr returns how to write a type. ok is false for anonymous structs, which have tags, and for
// arrays whose length is an expression.
func (r *shapes) typeExpr(s *shape) (e *Expr, ok bool) {
	switch {
	case s.name.Name != "":
		named := &Expr{Name: s.name}
		for _, arg := range s.args {
			e, fine := r.typeExpr(arg)
			if !fine {
				return nil, false
			}
			named.Args = append(named.Args, e)
		}
		return named, true
	case s.text != "":
		return &Expr{Form: Literal, Text: s.text}, true
	case !s.form.reference() && s.form != arrayForm:
		return nil, false
	}
	elem, ok := r.typeExpr(r.elem(s))
	if !ok {
		return nil, false
	}
	switch s.form {
	case pointerForm:
		return &Expr{Form: Pointer, Elem: elem}, true
	case sliceForm:
		return &Expr{Form: Slice, Elem: elem}, true
	case arrayForm:
		length, ok := s.expr.(*ast.ArrayType).Len.(*ast.BasicLit)
		if !ok {
			return nil, false
		}
		return &Expr{Form: Array, Text: length.Value, Elem: elem}, true
	}
	key, ok := r.typeExpr(r.key(s))
	return &Expr{Form: Map, Key: key, Elem: elem}, ok
}
