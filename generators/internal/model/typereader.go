package model

import (
	"bytes"
	"go/ast"
	"go/printer"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// typeReader reads declared types and, transitively, the types that they refer to, in
// whatever package those are.
type typeReader struct {
	*sources
	types    map[TypeName]*Type
	comments map[*file]comments
	// modelPackages caches modelPackage by package.
	modelPackages map[*source]string
}

// newTypeReader returns a reader that has read nothing.
func newTypeReader(s *sources) *typeReader {
	return &typeReader{sources: s, types: map[TypeName]*Type{}, comments: map[*file]comments{},
		modelPackages: map[*source]string{}}
}

// viewedTypes reads the kinds of packages and all types that are reachable from them.
func (s *session) viewedTypes(packages []*candidate) map[TypeName]*Type {
	r := newTypeReader(s.sources)
	var kinds []TypeName
	for _, p := range packages {
		for _, k := range p.kinds {
			kinds = append(kinds, TypeName{p.src.path, k.Name})
		}
	}
	r.read(kinds)
	return r.types
}

// read reads types and all types that are reachable from them. It goes breadth first, so
// that the packages of each round are found with one call of the go command.
func (r *typeReader) read(roots []TypeName) {
	for frontier := r.unread(slices.Clone(roots)); len(frontier) > 0; {
		r.load(frontier)
		var next []TypeName
		for _, name := range frontier {
			t := r.describe(name)
			r.types[name] = t
			t.Underlying.names(func(n TypeName) { next = append(next, n) })
			for _, f := range t.Fields {
				f.Type.names(func(n TypeName) { next = append(next, n) })
			}
		}
		frontier = r.unread(next)
	}
	// Last, as an alias may be read after the types that refer to it, and so may embedded types.
	for _, t := range r.types {
		r.resolveAliases(t)
		t.Marshaler, t.MarshalerOf = r.marshaler(t.TypeName)
	}
}

// reachable returns the types that roots lead to, all of which were read. A struct that is
// declared as another one leads to the fields of that, not to the other one itself. A type for
// which ends is true leads to nothing.
func (r *typeReader) reachable(roots []TypeName, ends func(*Type) bool) map[TypeName]*Type {
	found := map[TypeName]*Type{}
	var visit func(TypeName)
	visit = func(name TypeName) {
		t := r.types[name]
		if t == nil || found[name] != nil {
			return
		}
		found[name] = t
		if ends(t) {
			return
		}
		t.Underlying.names(visit)
		for _, f := range t.Fields {
			f.Type.names(visit)
		}
	}
	for _, name := range roots {
		visit(name)
	}
	return found
}

// unread returns the names that weren't read yet, without duplicates.
func (r *typeReader) unread(names []TypeName) []TypeName {
	seen := map[TypeName]bool{}
	return slices.DeleteFunc(names, func(n TypeName) bool {
		known := seen[n] || r.types[n] != nil
		seen[n] = true
		return known
	})
}

// load reads the packages of types that have no stand-in. Types of the standard library
// stay unknown: API types refer to few of them, such as time.Time, and those have no
// fields that matter.
func (r *typeReader) load(names []TypeName) {
	var paths []string
	for _, n := range names {
		if r.standIn(n.Path, n.Name) == nil && !isStandard(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	r.need(paths...)
}

// isStandard reports whether an import path belongs to the standard library.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// find returns the declaration of a type, nil if it isn't known.
func (r *typeReader) find(name TypeName) *typeDecl {
	if p := r.standIn(name.Path, name.Name); p != nil {
		return p.types[name.Name]
	}
	if p := r.byPath[name.Path]; p != nil {
		return p.typ(name.Name)
	}
	return nil
}

// describe returns the type of that name, without fields if it isn't known.
func (r *typeReader) describe(name TypeName) *Type {
	t := &Type{TypeName: name}
	decl := r.find(name)
	if decl == nil {
		return t
	}
	p, f := decl.pkg, decl.file
	index := r.index(f)
	closest, second := index.forDeclaration(decl.spec.Name.Pos())
	t.Pos = r.fset.Position(decl.spec.Name.Pos())
	// The order of gengo's callers. It decides which of two markers is the first.
	t.Lines = append(commentLines(second), commentLines(closest)...)
	t.alias = decl.spec.Assign.IsValid()
	t.Methods = p.methods[name.Name]
	returned := func(method string) (string, bool) {
		values, ok := p.returns(name.Name, method)
		// What may be null may also be absent. Of several other types, none is the type.
		values = slices.DeleteFunc(values, func(value string) bool { return value == "null" })
		if len(values) != 1 {
			return "", ok
		}
		return values[0], ok
	}
	t.ModelName, _ = returned("OpenAPIModelName")
	if prefix := r.modelPackage(p); prefix != "" && t.ModelName == "" {
		t.ModelName = prefix + "." + name.Name
	}
	t.SchemaType, t.HasSchemaType = returned("OpenAPISchemaType")
	t.SchemaFormat, _ = returned("OpenAPISchemaFormat")
	if decl.spec.TypeParams != nil {
		for _, params := range decl.spec.TypeParams.List {
			for _, n := range params.Names {
				t.Params = append(t.Params, n.Name)
			}
		}
	}
	st, ok := decl.spec.Type.(*ast.StructType)
	if !ok {
		t.Underlying = r.expr(p, f, decl.spec.Type, decl.spec.TypeParams)
		return t
	}
	t.Struct = true
	for _, field := range st.Fields.List {
		read := Field{Type: r.expr(p, f, field.Type, decl.spec.TypeParams)}
		if text, err := strconv.Unquote(tagText(field)); err == nil {
			read.Tag = reflect.StructTag(text)
		}
		if len(field.Names) == 0 { // embedded: named like its type
			read.Name, read.Embedded = typeName(field.Type), true
			t.Fields = append(t.Fields, r.placed(p, read, index, field))
		}
		for _, n := range field.Names {
			read.Name = n.Name
			t.Fields = append(t.Fields, r.placed(p, read, index, n))
		}
	}
	return t
}

// placed returns a field with its comment and position.
func (r *typeReader) placed(p *source, f Field, index comments, at ast.Node) *Field {
	closest, _ := index.forDeclaration(at.Pos())
	f.Lines, f.Pos = r.withDefaults(p, commentLines(closest)), r.fset.Position(at.Pos())
	return &f
}

// modelPackage is the cached modelPackage of a package.
func (r *typeReader) modelPackage(p *source) string {
	prefix, ok := r.modelPackages[p]
	if !ok {
		prefix = modelPackage(p)
		r.modelPackages[p] = prefix
	}
	return prefix
}

// index returns the comments of a file, cached.
func (r *typeReader) index(f *file) comments {
	index, ok := r.comments[f]
	if !ok {
		index = newComments(r.fset, f.syntax)
		r.comments[f] = index
	}
	return index
}

// resolveAliases replaces the aliases that a type refers to by their targets, and gives a
// type that is declared as another struct the fields of that.
func (r *typeReader) resolveAliases(t *Type) {
	if t.Underlying = r.unalias(t.Underlying, 0); t.Underlying != nil && t.Underlying.Form == Named &&
		!t.alias {
		if st := r.structOf(t.Underlying); st != nil {
			t.Struct, t.Fields, t.Underlying = true, st.Fields, nil
		}
	}
	for _, f := range t.Fields {
		f.Type = r.unalias(f.Type, 0)
	}
}

// structOf follows the names of types to a struct.
func (r *typeReader) structOf(e *Expr) *Type {
	for range maxHops {
		t := r.types[e.Name].Instance(e.Args)
		switch {
		case t == nil:
			return nil
		case t.Struct:
			return t
		case t.Underlying == nil || t.Underlying.Form != Named:
			return nil
		}
		e = t.Underlying
	}
	return nil
}

// unalias replaces the aliases in an expression, in place.
func (r *typeReader) unalias(e *Expr, hops int) *Expr {
	if e == nil || hops > maxHops {
		return e
	}
	if t := r.types[e.Name]; e.Form == Named && t != nil && t.alias && t.Underlying != nil &&
		len(e.Args) == len(t.Params) {
		return r.unalias(t.Instance(e.Args).Underlying, hops+1)
	}
	for i, arg := range e.Args {
		e.Args[i] = r.unalias(arg, hops+1)
	}
	e.Key, e.Elem = r.unalias(e.Key, hops+1), r.unalias(e.Elem, hops+1)
	return e
}

// commentLines returns the lines of a comment without comment markers, as go/ast cleans
// them.
func commentLines(group *ast.CommentGroup) []string {
	if group == nil {
		return nil
	}
	text := strings.TrimRight(group.Text(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// modelPackage returns the prefix of a package's types in OpenAPI, from the tag
// +k8s:openapi-model-package in doc.go. It is "" without the tag, and without the methods
// that openapi-gen generates from it: then the API server doesn't use the prefix either.
func modelPackage(s *source) string {
	const tag, method = "k8s:openapi-model-package", "OpenAPIModelName"
	value, made := "", false
	for _, f := range s.files {
		if f.syntax == nil { // deferred, as files of openapi-gen are
			made = made || bytes.Contains(f.text, []byte(method))
			continue
		}
		if !f.isDoc() {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, v := range Markers(commentLines(group), tag) {
				value = v
			}
		}
	}
	if !made {
		return ""
	}
	return value
}

// expr returns the Expr of a type expression in a file. params are the type parameters in
// scope, which become names without a path.
func (r *typeReader) expr(p *source, f *file, e ast.Expr, params *ast.FieldList) *Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return r.expr(p, f, e.X, params)
	case *ast.StarExpr:
		return &Expr{Form: Pointer, Elem: r.expr(p, f, e.X, params)}
	case *ast.ArrayType:
		if e.Len == nil {
			return &Expr{Form: Slice, Elem: r.expr(p, f, e.Elt, params)}
		}
		return &Expr{Form: Array, Text: r.text(e.Len), Elem: r.expr(p, f, e.Elt, params)}
	case *ast.MapType:
		return &Expr{Form: Map, Key: r.expr(p, f, e.Key, params), Elem: r.expr(p, f, e.Value, params)}
	case *ast.IndexExpr:
		generic := *r.expr(p, f, e.X, params)
		generic.Args = []*Expr{r.expr(p, f, e.Index, params)}
		return &generic
	case *ast.IndexListExpr:
		generic := *r.expr(p, f, e.X, params)
		for _, index := range e.Indices {
			generic.Args = append(generic.Args, r.expr(p, f, index, params))
		}
		return &generic
	case *ast.Ident:
		if p.predeclares(e.Name) || isParameter(params, e.Name) {
			return &Expr{Name: TypeName{Name: e.Name}}
		}
		return &Expr{Name: TypeName{r.dotImported(p, f, e.Name), e.Name}}
	case *ast.SelectorExpr:
		if ref, ok := r.refer(p, f, e); ok {
			return &Expr{Name: TypeName{ref.Path, ref.Name}}
		}
		return &Expr{Form: Literal, Text: "any"} // its package isn't imported, which the compiler reports
	// An empty struct or interface can be written in any file. A literal type with fields
	// or methods may refer to packages, so it becomes "any".
	case *ast.StructType:
		if len(e.Fields.List) == 0 {
			return &Expr{Form: Literal, Text: "struct{}"}
		}
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return &Expr{Form: Literal, Text: "interface{}"}
		}
	}
	return &Expr{Form: Literal, Text: "any", unnamed: r.fset.Position(e.Pos())}
}

// isParameter reports whether params declares a type parameter of that name.
func isParameter(params *ast.FieldList, name string) bool {
	if params == nil {
		return false
	}
	for _, field := range params.List {
		for _, n := range field.Names {
			if n.Name == name {
				return true
			}
		}
	}
	return false
}

// text returns an expression as source.
func (r *typeReader) text(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, r.fset, e); err != nil {
		return "any" // syntax that was parsed can be printed
	}
	return b.String()
}

// defaultRef is a +default marker that refers to a constant: of the same package, or of
// another with the import path before the name.
var defaultRef = regexp.MustCompile(`^( *\+default=)ref\(([^"()]+)\)$`)

// withDefaults replaces constants in the +default markers of a field by their values, if
// they are literals in packages that were read.
func (r *typeReader) withDefaults(p *source, lines []string) []string {
	for i, line := range lines {
		m := defaultRef.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		path, name := splitType(m[2])
		declaring := p
		if path != "" {
			declaring = r.byPath[path]
		}
		if declaring == nil {
			continue
		}
		if value := declaring.constant(name); value != "" {
			lines[i] = m[1] + value
		}
	}
	return lines
}
