package model

import (
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// TypeName is the name of a declared type. Path is "" for predeclared types and for type
// parameters.
type TypeName struct{ Path, Name string }

// Form is the form of a type expression.
type Form int

// The forms of type expressions.
const (
	Named   Form = iota // Name, with Args if it is generic
	Pointer             // to Elem
	Slice               // of Elem
	Array               // of Elem, Text is the length
	Map                 // from Key to Elem
	Literal             // any other type: Text is its source, or "any" if that refers to more names
)

// Expr is a type expression. It follows from the syntax alone; aliases are replaced by
// their targets if their package is known.
type Expr struct {
	Form      Form
	Name      TypeName
	Args      []*Expr
	Key, Elem *Expr
	// Text is Go source: the length of an array, or a literal type. It refers to no
	// package.
	Text string
	// unnamed is the position of a literal type whose Text is "any".
	unnamed token.Position
}

// Deref returns the type behind all pointers.
func (e *Expr) Deref() *Expr {
	for e.Form == Pointer {
		e = e.Elem
	}
	return e
}

// names yields the declared types that an expression refers to.
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

// literals yields the positions of literal types that became "any".
func (e *Expr) literals(yield func(token.Position)) {
	if e == nil {
		return
	}
	if e.unnamed.IsValid() {
		yield(e.unnamed)
	}
	for _, arg := range e.Args {
		arg.literals(yield)
	}
	e.Key.literals(yield)
	e.Elem.literals(yield)
}

// Type is a declared type: its fields and comments, and the results of its methods for OpenAPI.
type Type struct {
	TypeName
	// Pos is zero for a type whose declaration wasn't found.
	Pos token.Position
	// Lines are the lines of the type's comments, including markers.
	Lines []string
	// Params are the names of the type parameters.
	Params []string
	// Underlying is the type in the declaration, nil for structs and for types whose
	// declaration wasn't found.
	Underlying *Expr
	// Struct is true for structs, including those declared as another struct. Fields
	// are their fields.
	Struct bool
	Fields []*Field
	// Methods are the names of the type's own methods.
	Methods []string
	// Marshaler is the method by which the type encodes itself, MarshalJSON or MarshalText, and
	// MarshalerOf the type that declares it, which may be an embedded one. It is "" for a type
	// that is encoded by its kind.
	Marshaler   string
	MarshalerOf TypeName
	// ModelName is the result of the method OpenAPIModelName, "" without one.
	ModelName string
	// SchemaType is the result of the method OpenAPISchemaType; HasSchemaType
	// distinguishes an empty result from no such method.
	SchemaType    string
	HasSchemaType bool
	// SchemaFormat is the result of the method OpenAPISchemaFormat.
	SchemaFormat string

	alias bool
}

// Instance returns a generic type with its parameters replaced by args, and any other
// type, or nil, unchanged.
func (t *Type) Instance(args []*Expr) *Type {
	if t == nil || len(t.Params) == 0 || len(args) != len(t.Params) {
		return t
	}
	values := map[string]*Expr{}
	for i, param := range t.Params {
		values[param] = args[i]
	}
	// A copy: other references to the type may have other arguments.
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

// substitute returns a copy of an expression with parameters replaced by values.
func (e *Expr) substitute(values map[string]*Expr) *Expr {
	if e == nil {
		return nil
	}
	// A parameter is a name without a package. It shadows predeclared types.
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
	// Lines are the lines of the field's comment, including markers.
	Lines []string
	Pos   token.Position
}

// JSON is the meaning of a field's json tag.
type JSON struct {
	// Name is the key, Options are the words after it.
	Name    string
	Options []string
	// Inline is true for embedded fields without a key.
	Inline bool
}

// Has reports whether the tag has an option, such as "omitempty".
func (j JSON) Has(option string) bool { return slices.Contains(j.Options, option) }

// JSON parses the json tag. ok is false for a field without one, and for "-".
func (f *Field) JSON() (j JSON, ok bool) {
	tag, ok := f.Tag.Lookup("json")
	if !ok || tag == "-" {
		return JSON{}, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validKey(name) { // encoding/json ignores it
		name = ""
	}
	j = JSON{Name: name, Options: strings.Split(options, ","), Inline: f.Embedded && name == ""}
	if name == "" {
		j.Name = f.Name
	}
	return j, true
}

// validKey reports whether encoding/json accepts a name in a tag. A tag can be any string literal, but no
// valid name has a backquote, which would end the raw string of a generated tag.
func validKey(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	})
}

// Embeds reports whether a struct embeds the type itself, not a pointer to it.
func (t *Type) Embeds(name TypeName) bool {
	for _, f := range t.Fields {
		if f.Embedded && f.Type.Form == Named && f.Type.Name == name {
			return true
		}
	}
	return false
}

// Field returns the direct field of that name, nil if there is none.
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

// Markers returns the values of all markers of that name in comment lines, "" for one
// without a value.
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
