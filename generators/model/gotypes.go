package model

import (
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"reflect"
	"strings"
)

// TypeName names a declared type; Path is "" for predeclared ones.
type TypeName struct{ Path, Name string }

// Form is the form of a type expression.
type Form int

// The forms of type expressions.
const (
	Named   Form = iota // Name, with Args if it is generic
	Pointer             // to Elem
	Slice               // of Elem
	Array               // of Elem, Text long
	Map                 // from Key to Elem
	Literal             // anything else: Text is "any" if it can't be written without more names
)

// Expr is a type expression, read off the syntax. Aliases are replaced by what
// they stand for where their package is known.
type Expr struct {
	Form      Form
	Name      TypeName
	Args      []*Expr
	Key, Elem *Expr
	// Text is Go source: the length of an array, or a literal type. It names no
	// other package.
	Text string
}

// Deref is the type behind all pointers.
func (e *Expr) Deref() *Expr {
	for e.Form == Pointer {
		e = e.Elem
	}
	return e
}

// names yields the declared types in an expression.
func (e *Expr) names(yield func(TypeName)) {
	if e == nil {
		return
	}
	if e.Form == Named && e.Name.Path != "" {
		yield(e.Name)
	}
	for _, arg := range e.Args {
		arg.names(yield)
	}
	e.Key.names(yield)
	e.Elem.names(yield)
}

// Type is a declared type, as far as its fields and markers go.
type Type struct {
	TypeName
	Pos token.Position
	// Lines are the type's comments, markers included.
	Lines []string
	// Params are the names of the type's parameters.
	Params []string
	// Underlying is what the type is declared as, nil for structs and for
	// types that can't be looked at.
	Underlying *Expr
	// Struct is true for structs, however declared; Fields are theirs.
	Struct bool
	Fields []*Field
	// Methods are the names of the type's own methods.
	Methods []string
	// ModelName is what a method OpenAPIModelName returns, "" without one.
	ModelName string
	// SchemaType is what a method OpenAPISchemaType returns; HasSchemaType
	// tells nothing from no such method.
	SchemaType    string
	HasSchemaType bool
	// SchemaFormat is what a method OpenAPISchemaFormat returns.
	SchemaFormat string

	alias bool
}

// Instance is a generic type with arguments in place of its parameters; any
// other type, and nil, as it is.
func (t *Type) Instance(args []*Expr) *Type {
	if t == nil || len(t.Params) == 0 || len(args) != len(t.Params) {
		return t
	}
	values := map[string]*Expr{}
	for i, param := range t.Params {
		values[param] = args[i]
	}
	instance := *t
	instance.Params, instance.Fields = nil, nil
	instance.Underlying = t.Underlying.substitute(values)
	for _, f := range t.Fields {
		field := *f
		field.Type = f.Type.substitute(values)
		instance.Fields = append(instance.Fields, &field)
	}
	return &instance
}

// substitute is a copy of an expression with values in place of parameters.
func (e *Expr) substitute(values map[string]*Expr) *Expr {
	if e == nil {
		return nil
	}
	if value := values[e.Name.Name]; value != nil && e.Form == Named && e.Name.Path == "" {
		return value
	}
	instance := *e
	instance.Args = nil
	for _, arg := range e.Args {
		instance.Args = append(instance.Args, arg.substitute(values))
	}
	instance.Key, instance.Elem = e.Key.substitute(values), e.Elem.substitute(values)
	return &instance
}

// Field is a field of a struct.
type Field struct {
	Name     string
	Embedded bool
	Type     *Expr
	Tag      reflect.StructTag
	// Lines are the field's comments, markers included.
	Lines []string
	Pos   token.Position
}

// JSON is what a field's json tag says.
type JSON struct {
	// Name is the key, Options what follows the comma.
	Name    string
	Options []string
	// Inline is true for embedded fields without a key.
	Inline bool
}

// Has reports whether the tag has an option.
func (j JSON) Has(option string) bool {
	for _, o := range j.Options {
		if o == option {
			return true
		}
	}
	return false
}

// JSON reads the json tag; ok is false for a field without one, or left out by it.
func (f *Field) JSON() (j JSON, ok bool) {
	tag, ok := f.Tag.Lookup("json")
	if !ok || tag == "-" {
		return JSON{}, false
	}
	name, options, _ := strings.Cut(tag, ",")
	j = JSON{Name: name, Options: strings.Split(options, ","), Inline: f.Embedded && name == ""}
	if name == "" {
		j.Name = f.Name
	}
	return j, true
}

// Embeds reports whether a struct has an embedded field of a type, by name.
func (t *Type) Embeds(name TypeName) bool {
	for _, f := range t.Fields {
		if f.Embedded && f.Type.Form == Named && f.Type.Name == name {
			return true
		}
	}
	return false
}

// Field finds a direct field by its name.
func (t *Type) Field(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// HasJSON reports whether any field has a json tag.
func (t *Type) HasJSON() bool {
	for _, f := range t.Fields {
		if _, ok := f.JSON(); ok {
			return true
		}
	}
	return false
}

// Markers are the values of a marker among comment lines: "" for one without value.
func Markers(lines []string, name string) []string {
	var values []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "+"+name)
		switch {
		case ok && text == "":
			values = append(values, "")
		case ok && text[0] == '=':
			values = append(values, strings.TrimSpace(text[1:]))
		}
	}
	return values
}

// expr turns syntax into an expression. Parameters of generic types stay as
// they are.
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
		predeclared := p.types[e.Name] == nil && types.Universe.Lookup(e.Name) != nil
		if predeclared || isParameter(params, e.Name) {
			return &Expr{Name: TypeName{Name: e.Name}}
		}
		return &Expr{Name: TypeName{p.path, e.Name}}
	case *ast.SelectorExpr:
		if ref, ok := r.refer(p, f, e); ok {
			return &Expr{Name: TypeName{ref.Path, ref.Name}}
		}
	case *ast.StructType:
		if len(e.Fields.List) == 0 {
			return &Expr{Form: Literal, Text: "struct{}"}
		}
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return &Expr{Form: Literal, Text: "interface{}"}
		}
	}
	r.unnamed = append(r.unnamed, e.Pos())
	return &Expr{Form: Literal, Text: "any"}
}

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

// text is an expression as source.
func (r *typeReader) text(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, r.fset, e); err != nil {
		return "any" // no syntax that was parsed fails to print
	}
	return b.String()
}
