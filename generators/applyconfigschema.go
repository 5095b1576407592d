package generators

import (
	"encoding/json"
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/schema"
)

// deriver derives a schema from Go types by the rules of openapi-gen (package
// k8s.io/kube-openapi/pkg/generators), so that it equals the one of the API server. Types
// that it can't describe get a schema that is deduced from the value.
type deriver struct {
	types  map[model.TypeName]*model.Type
	schema schema.Schema
}

// named adds a type, and all types reachable from it, and returns its name.
func (d *deriver) named(name model.TypeName) string {
	t := d.types[name]
	key := openAPIName(name)
	if t != nil && t.ModelName != "" {
		key = t.ModelName
	}
	if _, ok := d.schema[key]; ok {
		return key
	}
	d.schema[key] = schema.Atom{} // types can be recursive
	d.schema[key] = d.atom(t)
	return key
}

// objects are types that encode themselves and always write an object.
var objects = []model.TypeName{{Path: metaPath, Name: "FieldsV1"},
	{Path: "k8s.io/apimachinery/pkg/runtime", Name: "RawExtension"}}

// atom is the schema of a struct, or of a type that encodes itself.
func (d *deriver) atom(t *model.Type) schema.Atom {
	switch {
	case t == nil:
		return schema.Deduced()
	case t.HasSchemaType && (t.Struct || t.Marshaler != ""):
		return described(t)
	case slices.Contains(objects, t.TypeName):
		return schema.Object()
	case !t.Struct || t.Marshaler != "":
		return schema.Deduced()
	}
	m := &schema.Map{Relationship: mapRelationship(t.Lines)}
	d.fields(t, m, 0)
	if len(m.Fields) == 0 {
		m.Element = schema.Ref{Inline: schema.Deduced()}
	}
	slices.SortFunc(m.Fields, func(a, b schema.Field) int { return strings.Compare(a.Name, b.Name) })
	return schema.Atom{Map: m}
}

// described returns the schema of a type with methods that describe it to OpenAPI.
func described(t *model.Type) schema.Atom {
	switch t.SchemaType {
	case "":
		return schema.Deduced()
	case "object":
		return schema.Object()
	case "integer", "number":
		return schema.Atom{Scalar: schema.Numeric}
	case "boolean":
		return schema.Atom{Scalar: schema.Boolean}
	case "array":
		return schema.Atom{List: &schema.List{Element: schema.Ref{Name: schema.UntypedAtomic},
			Relationship: schema.Atomic}}
	case "string":
		if t.SchemaFormat == "" || t.SchemaFormat == "byte" {
			return schema.Atom{Scalar: schema.String}
		}
	}
	return schema.Atom{Scalar: schema.Untyped}
}

// fields adds the fields of a struct, then those of inlined structs that its own don't hide.
func (d *deriver) fields(t *model.Type, m *schema.Map, hops int) {
	var inlined []*model.Type
	for _, f := range t.Fields {
		j, ok := onWire(f)
		if !ok || slices.Contains(model.Markers(f.Lines, "k8s:openapi-gen"), "false") {
			continue
		}
		if j.Inline {
			if inner := d.structType(f.Type); inner != nil && hops < 16 {
				inlined = append(inlined, inner)
			}
			continue
		}
		if slices.ContainsFunc(m.Fields, func(other schema.Field) bool { return other.Name == j.Name }) {
			continue
		}
		field := schema.Field{Name: j.Name, Type: d.field(f)}
		if j.Has("string") { // encoded as a string, whatever the type is
			field.Type = schema.Ref{Inline: schema.Atom{Scalar: schema.String}}
		} else {
			field.Default = d.defaultOf(f, j)
		}
		m.Fields = append(m.Fields, field)
	}
	for _, inner := range inlined {
		d.fields(inner, m, hops+1)
	}
}

// onWire returns how a field is encoded. An exported field without a json tag is encoded,
// too, although apply configurations leave it out.
func onWire(f *model.Field) (model.JSON, bool) {
	if _, tagged := f.Tag.Lookup("json"); tagged || !token.IsExported(f.Name) {
		return f.JSON()
	}
	return model.JSON{Name: f.Name, Inline: f.Embedded}, true
}

// structType returns the struct behind names and pointers, nil for other types.
func (d *deriver) structType(e *model.Expr) *model.Type {
	e = d.resolve(e)
	if t := d.types[e.Name].Instance(e.Args); e.Form == model.Named && t != nil && t.Struct {
		return t
	}
	return nil
}

// resolve follows pointers, and names of types other than structs and those that encode themselves.
func (d *deriver) resolve(e *model.Expr) *model.Expr {
	for range 16 {
		e = e.Deref()
		t := d.types[e.Name].Instance(e.Args)
		if e.Form != model.Named || t == nil || t.Struct || t.Marshaler != "" || t.Underlying == nil {
			break
		}
		e = t.Underlying
	}
	return e
}

// field returns the type of a field. Its markers say how lists and maps are merged, or
// those of its named type if it has none.
func (d *deriver) field(f *model.Field) schema.Ref {
	ref := d.ref(f.Type)
	lines := f.Lines
	// Markers of the field override those of its type.
	if t := d.types[f.Type.Deref().Name]; t != nil && !t.Struct &&
		len(model.Markers(lines, "listType"))+len(model.Markers(lines, "mapType")) == 0 {
		lines = append(slices.Clone(lines), t.Lines...)
	}
	switch {
	case ref.Name != "":
		ref.Relationship = mapRelationship(lines)
	case ref.Inline.List != nil && ref.Inline.Scalar == "":
		list := *ref.Inline.List
		list.Relationship, list.Keys = listRelationship(lines)
		ref.Inline.List = &list
	case ref.Inline.Map != nil && ref.Inline.Scalar == "":
		object := *ref.Inline.Map
		object.Relationship = mapRelationship(lines)
		ref.Inline.Map = &object
	}
	return ref
}

// rawExtension is the name of the type that holds any object.
const rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"

// ref returns the type of a field or of an element.
func (d *deriver) ref(e *model.Expr) schema.Ref {
	e = d.resolve(e)
	inline := func(a schema.Atom) schema.Ref { return schema.Ref{Inline: a} }
	switch e.Form {
	case model.Slice, model.Array:
		// encoding/json encodes []byte as a string.
		if elem := e.Elem; e.Form == model.Slice && elem.Form == model.Named && elem.Name.Path == "" &&
			(elem.Name.Name == "byte" || elem.Name.Name == "uint8") {
			return inline(schema.Atom{Scalar: schema.String})
		}
		return inline(schema.Atom{List: &schema.List{Element: d.ref(e.Elem), Relationship: schema.Atomic}})
	case model.Map:
		return inline(schema.Atom{Map: &schema.Map{Element: d.ref(e.Elem)}})
	case model.Literal:
		return inline(schema.Deduced())
	}
	if a, ok := predeclared[e.Name]; ok {
		return inline(schema.Atom{Scalar: a})
	}
	t := d.types[e.Name]
	if t == nil || !t.Struct || len(e.Args) > 0 {
		if t != nil && t.Marshaler == "" {
			t = nil // nothing tells the JSON of an instance of a generic type
		}
		return inline(d.atom(t))
	}
	name := d.named(e.Name)
	if name == rawExtension {
		return schema.Ref{Name: schema.UntypedAtomic}
	}
	return schema.Ref{Name: name}
}

// predeclared are the Go types that are scalars.
var predeclared = map[model.TypeName]string{
	{Name: "string"}: schema.String,
	{Name: "bool"}:   schema.Boolean,

	{Name: "int"}: schema.Numeric, {Name: "int8"}: schema.Numeric, {Name: "int16"}: schema.Numeric,
	{Name: "int32"}: schema.Numeric, {Name: "int64"}: schema.Numeric,
	{Name: "uint"}: schema.Numeric, {Name: "uint8"}: schema.Numeric, {Name: "uint16"}: schema.Numeric,
	{Name: "uint32"}: schema.Numeric, {Name: "uint64"}: schema.Numeric,
	{Name: "byte"}: schema.Numeric, {Name: "rune"}: schema.Numeric,
	{Name: "float32"}: schema.Numeric, {Name: "float64"}: schema.Numeric,

	{Path: "time", Name: "Time"}:     schema.Untyped,
	{Path: "time", Name: "Duration"}: schema.Numeric,
}

// zeros are the zero values of scalars in JSON.
var zeros = map[string]string{schema.String: `""`, schema.Boolean: "false", schema.Numeric: "0"}

// defaultOf returns the default of a field: the value of its marker, or the zero value of a
// field that is always encoded.
func (d *deriver) defaultOf(f *model.Field, j model.JSON) string {
	lines := f.Lines
	for e := f.Type; ; {
		if values := model.Markers(lines, "default"); len(values) > 0 {
			if json.Valid([]byte(values[0])) {
				return values[0]
			}
			break // a reference to a constant that wasn't found
		}
		e = e.Deref()
		t := d.types[e.Name]
		if t == nil || t.Underlying == nil || e.Form != model.Named {
			break
		}
		lines, e = t.Lines, t.Underlying
	}
	return d.zero(f.Type, j.Has("omitempty"), 0)
}

// zero returns the default of a type without a marker: {} for structs, and the zero value
// of scalars unless omitempty omits it; "" for none.
func (d *deriver) zero(e *model.Expr, omitted bool, hops int) string {
	if e.Form != model.Named || hops > 16 {
		return ""
	}
	switch t := d.types[e.Name]; {
	case t == nil:
	// Its zero value needn't be {}, or that of its kind.
	case t.Marshaler != "", slices.Contains(t.Methods, "UnmarshalJSON"):
		return ""
	// openapi-gen treats a struct with a single embedded field as an alias.
	case t.Struct && len(t.Fields) == 1 && t.Fields[0].Embedded:
		return d.zero(t.Fields[0].Type, omitted, hops+1)
	case t.Struct:
		return "{}"
	case t.Underlying != nil:
		return d.zero(t.Underlying, omitted, hops+1)
	}
	if omitted {
		return ""
	}
	return zeros[predeclared[e.Name]]
}

// listRelationship returns how a list is merged according to its markers. The default is to
// replace it.
func listRelationship(lines []string) (relationship string, keys []string) {
	switch first(model.Markers(lines, "listType")) {
	case "set":
		return schema.Associative, nil
	case "map":
		return schema.Associative, model.Markers(lines, "listMapKey")
	case "":
		strategy := first(model.Markers(lines, "patchStrategy"))
		if strategy, _, _ = strings.Cut(strategy, ","); strategy == "merge" {
			return schema.Associative, model.Markers(lines, "patchMergeKey")
		}
	}
	return schema.Atomic, nil
}

// mapRelationship returns how a map or a struct is merged according to its markers, "" if
// its type decides.
func mapRelationship(lines []string) string {
	marker := first(model.Markers(lines, "mapType"))
	if marker == "" {
		marker = first(model.Markers(lines, "structType"))
	}
	return map[string]string{"atomic": schema.Atomic, "granular": schema.Separable}[marker]
}

// first returns the first value, "" if there is none.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
