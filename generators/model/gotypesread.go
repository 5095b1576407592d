package model

import (
	"bytes"
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// typeReader reads declared types off the syntax, and with each the types that
// it mentions, in whatever package they are.
type typeReader struct {
	*sources
	standIns map[string]*source
	types    map[TypeName]*Type
	comments map[*file]comments
	// modelPackages remembers what source.modelPackage found.
	modelPackages map[*source]string
	// unnamed are the places of types that are taken for any.
	unnamed []token.Pos
}

func newTypeReader(s *sources) *typeReader {
	return &typeReader{sources: s, standIns: standIns(s.fset), types: map[TypeName]*Type{}, comments: map[*file]comments{}, modelPackages: map[*source]string{}}
}

// read reads types and all that can be reached from them: round by round, so
// that the packages of one round are asked for together.
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
	for _, t := range r.types {
		r.settle(t)
	}
}

// unread are those of some types that are not known yet, each once.
func (r *typeReader) unread(names []TypeName) []TypeName {
	seen := map[TypeName]bool{}
	return slices.DeleteFunc(names, func(n TypeName) bool {
		known := seen[n] || r.types[n] != nil
		seen[n] = true
		return known
	})
}

// load gets the packages of types that nothing stands in for.
func (r *typeReader) load(names []TypeName) {
	var paths []string
	for _, n := range names {
		if standIn := r.standIns[n.Path]; r.byPath[n.Path] == nil && (standIn == nil || standIn.types[n.Name] == nil) && !isStandard(n.Path) {
			paths = append(paths, n.Path)
		}
	}
	r.need(paths...)
}

// isStandard reports whether an import path is one of the standard library's.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// find finds a declaration: among the packages of the input, then where
// something stands in, then in packages that were loaded.
func (r *typeReader) find(name TypeName) *typeDecl {
	if p := r.byPath[name.Path]; p != nil {
		return p.typ(name.Name)
	}
	if p := r.standIns[name.Path]; p != nil {
		return p.types[name.Name]
	}
	return nil
}

func (r *typeReader) describe(name TypeName) *Type {
	t := &Type{TypeName: name}
	decl := r.find(name)
	if decl == nil {
		return t
	}
	p, f := decl.pkg, decl.file
	index := r.index(f)
	closest, second := index.of(decl.spec.Name.Pos())
	t.Pos = r.fset.Position(decl.spec.Name.Pos())
	t.Lines = append(commentLines(second), commentLines(closest)...)
	t.alias = decl.spec.Assign.IsValid()
	t.Methods = p.methods[name.Name]
	t.ModelName, _ = p.returns(name.Name, "OpenAPIModelName")
	if prefix := r.modelPackage(p); prefix != "" && t.ModelName == "" {
		t.ModelName = prefix + "." + name.Name
	}
	t.SchemaType, t.HasSchemaType = p.returns(name.Name, "OpenAPISchemaType")
	t.SchemaFormat, _ = p.returns(name.Name, "OpenAPISchemaFormat")
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
		if len(field.Names) == 0 {
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

// placed adds to a field what follows from its place.
func (r *typeReader) placed(p *source, f Field, index comments, at ast.Node) *Field {
	closest, _ := index.of(at.Pos())
	f.Lines, f.Pos = r.withDefaults(p, commentLines(closest)), r.fset.Position(at.Pos())
	return &f
}

// modelPackage is the package's, looked up once.
func (r *typeReader) modelPackage(p *source) string {
	prefix, ok := r.modelPackages[p]
	if !ok {
		prefix = p.modelPackage()
		r.modelPackages[p] = prefix
	}
	return prefix
}

func (r *typeReader) index(f *file) comments {
	index, ok := r.comments[f]
	if !ok {
		index = newComments(r.fset, f.syntax)
		r.comments[f] = index
	}
	return index
}

// settle replaces aliases by what they stand for, and gives types that are
// declared as another struct its fields.
func (r *typeReader) settle(t *Type) {
	if t.Underlying = r.unalias(t.Underlying, 0); t.Underlying != nil && t.Underlying.Form == Named && !t.alias {
		if st := r.structOf(t.Underlying); st != nil {
			t.Struct, t.Fields, t.Underlying = true, st.Fields, nil
		}
	}
	for _, f := range t.Fields {
		f.Type = r.unalias(f.Type, 0)
	}
}

// structOf follows names of types to a struct.
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

func (r *typeReader) unalias(e *Expr, hops int) *Expr {
	if e == nil || hops > maxHops {
		return e
	}
	if t := r.types[e.Name]; e.Form == Named && t != nil && t.alias && t.Underlying != nil && len(e.Args) == len(t.Params) {
		return r.unalias(t.Instance(e.Args).Underlying, hops+1)
	}
	for i, arg := range e.Args {
		e.Args[i] = r.unalias(arg, hops+1)
	}
	e.Key, e.Elem = r.unalias(e.Key, hops+1), r.unalias(e.Elem, hops+1)
	return e
}

// commentLines are the lines of a comment as [go/ast] cleans them.
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

// returns is the string that a method returns, or the only element of the list
// of strings: what methods that describe a type to OpenAPI do.
func (s *source) returns(receiver, method string) (value string, ok bool) {
	body := s.bodies[receiver+"."+method]
	if body == nil {
		return "", false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if lit, isLit := n.(*ast.BasicLit); isLit && value == "" {
			value, _ = strconv.Unquote(lit.Value)
		}
		return true
	})
	return value, true
}

// modelPackage is what the names of a package's types begin with in OpenAPI if
// it says so in doc.go and openapi-gen made the methods that tell; else "".
func (s *source) modelPackage() string {
	const tag, method = "k8s:openapi-model-package", "OpenAPIModelName"
	value, made := "", false
	for _, f := range s.files {
		if f.syntax == nil {
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
