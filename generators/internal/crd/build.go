package crd

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// Options control how schemas become types.
type Options struct {
	// WellKnown uses types of Kubernetes for the shapes that they have.
	WellKnown bool
	// Taken returns the names that a package declares already, with their positions.
	Taken func(group, version string) map[string]string
}

// Types are the types of a kind in one version, the content of a file.
type Types struct {
	*Definition
	*Version
	// Doc and ListDoc are the comments of the kind and of its list.
	Doc, ListDoc []string
	Fields       []Field
	// Decls are the types that the kind consists of, sorted by path.
	Decls []Decl
	// Raw are the values for which there is no type.
	Raw []Raw
	// Values counts the fields, items and values of maps.
	Values int
}

// Decl is a struct, or an enumeration if it has constants.
type Decl struct {
	Name   string
	Doc    []string
	Fields []Field
	Consts []Const
}

// Field is a field of a struct.
type Field struct {
	Doc             []string
	Name, Type, Tag string
}

// Const is a value of an enumeration.
type Const struct{ Name, Value string }

// Raw is a value that stays JSON.
type Raw struct{ Path, Reason string }

// The reasons for raw JSON. The first two are those of x-kubernetes-preserve-unknown-fields.
const (
	RawAnyValue   = "any value"
	RawMoreFields = "fields beside the properties"
	RawObject     = "a whole object of any kind"
	RawName       = "a property whose name no Go tag can have"
)

// Types returns the types of all served versions, sorted by group, version and kind.
func (o Options) Types(defs []*Definition) ([]*Types, marker.Problems) {
	var all []*Types
	var problems marker.Reporter
	for _, d := range defs {
		for _, v := range d.Versions {
			all = append(all, &Types{Definition: d, Version: v})
		}
	}
	slices.SortStableFunc(all, func(a, b *Types) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Kind, b.Kind))
	})
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].Group == all[i].Group && all[end].Name == all[i].Name {
			end++
		}
		o.build(all[i:end], &problems)
		i = end
	}
	return all, problems.Problems.Sort()
}

// build makes the types of a package. The kinds choose their names first.
func (o Options) build(kinds []*Types, problems *marker.Reporter) {
	taken := map[string]string{}
	if o.Taken != nil {
		taken = o.Taken(kinds[0].Group, kinds[0].Name)
	}
	names := newNameSet(registration...)
	for name := range taken {
		names.markTaken(name)
	}
	for _, t := range kinds {
		for _, name := range []string{t.Kind, t.Kind + "List"} {
			if at, ok := taken[name]; ok {
				problems.Errorf(t.Definition.Pos, "%s, a type of %s/%s, is declared in %s, too; remove one of them,"+
					" or import all definitions of the group in one run", name, t.Group, t.Name, at)
			}
			names.markTaken(name)
		}
		for _, name := range configNames(t.Kind) {
			names.markTaken(name)
		}
	}
	for _, t := range kinds {
		b := builder{Options: o, Types: t, names: names, problems: problems}
		b.kind()
		if t.Schema.PreserveUnknown {
			problems.Warnf(t.Schema.Pos, "%s has fields that no type can have, as"+
				" x-kubernetes-preserve-unknown-fields is set for the whole object; clients that update it drop"+
				" them", t.Kind)
		}
	}
}

// builder makes the types of a kind.
type builder struct {
	Options
	*Types
	names    nameSet
	problems *marker.Reporter
}

func (b *builder) kind() {
	root := b.Schema
	own := slices.DeleteFunc(slices.Clone(root.Properties), func(p Property) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata"}, p.Name)
	})
	names := fieldNames{newNameSet(kindNames...)}.addAll(own)
	for _, p := range own {
		switch {
		case !validTag(p.Name):
			b.problems.Errorf(p.Pos, "%q of %s can't be a field: no Go tag can have the name", p.Name, b.Kind)
		default:
			b.Fields = append(b.Fields, b.field(root, p, b.Kind, "", names[p.Name]))
		}
	}
	// Spec first, Status last.
	rank := map[string]int{"Spec": -1, "Status": 1}
	slices.SortStableFunc(b.Fields, func(x, y Field) int { return rank[x.Name] - rank[y.Name] })
	hasStatus := slices.ContainsFunc(b.Fields, func(f Field) bool { return f.Name == "Status" })
	b.Doc = typeDoc(root.Description, kindMarkers(b.Definition, b.Version, model.Resource(b.Kind), hasStatus))
}

// field returns the field of that name for a property of an object whose type has the name owner and which is
// at path.
func (b *builder) field(object *Schema, p Property, owner, path, name string) Field {
	path = strings.TrimPrefix(path+"."+p.Name, ".")
	typ := b.typeOf(p.Schema, p.Name, owner+name, path)
	required := object.required(p.Name)
	doc := append(comment(p.Description), p.markers(required, typ)...)
	if (!required || p.Nullable) && !nilable(typ) {
		typ = "*" + typ
	}
	tag := p.Name
	if !required {
		tag += ",omitempty"
	} else if tag == "-" {
		tag += ","
	}
	return Field{Doc: doc, Name: name, Type: typ, Tag: "`json:" + strconv.Quote(tag) + "`"}
}

// nilable reports whether the zero value of a type is nil, which is no value of the schema.
func nilable(typ string) bool { return strings.HasPrefix(typ, "[]") || strings.HasPrefix(typ, "map[") }

// typeOf returns the type of a schema. property is the name of the property that has it, directly or inside
// of lists and maps. name is for the type if it needs one, and path is where the schema is.
func (b *builder) typeOf(s *Schema, property, name, path string) string {
	b.Values++
	if b.WellKnown {
		if typ := recognize(s, property); typ != nil {
			return goType(typ)
		}
	}
	switch {
	case s.IntOrString: // whatever the type, for servers
		return goType(intstrType)
	case s.Embedded:
		return b.raw(path, RawObject)
	case s.Type == "", s.PreserveUnknown && len(s.Properties) == 0 && s.Values == nil && s.Type == "object":
		return b.raw(path, RawAnyValue)
	case (s.PreserveUnknown || s.AnyValues) && len(s.Properties) > 0:
		return b.raw(path, RawMoreFields)
	}
	switch s.Type {
	case "array":
		return "[]" + b.element(s.Items, property, name, path+"[]")
	case "object":
		return b.object(s, property, name, path)
	case "integer":
		switch s.Format {
		case "int32":
			return "int32"
		case "uint64":
			b.problems.Warnf(s.Pos, "%s of %s has the format uint64 and becomes an int64, which has no values above "+
				"9223372036854775807", path, b.Kind)
		}
		return "int64"
	case "number":
		return "float64"
	case "boolean":
		return "bool"
	}
	switch {
	case len(s.Enum) > 0:
		return b.enum(s, name, path)
	case s.Format == "byte":
		return "[]byte"
	}
	return "string"
}

// element returns the type of the items of a list or of the values of a map.
func (b *builder) element(s *Schema, property, name, path string) string {
	typ := b.typeOf(s, property, name, path)
	if s.Nullable && !nilable(typ) {
		typ = "*" + typ
	}
	return typ
}

func (b *builder) object(s *Schema, property, name, path string) string {
	switch {
	case s.AnyValues:
		return "map[string]" + b.raw(path+"{}", RawAnyValue)
	case s.Values != nil:
		return "map[string]" + b.element(s.Values, property, name, path+"{}")
	case slices.ContainsFunc(s.Properties, func(p Property) bool { return !validTag(p.Name) }):
		return b.raw(path, RawName)
	}
	at := len(b.Decls)
	name = b.names.add(name)
	b.names.markTaken(configName(name))
	b.Decls = append(b.Decls, Decl{}) // before those of its fields
	markers := s.validation("+kubebuilder:validation:", structType)
	if s.MapType == "atomic" {
		markers = append([]string{"+structType=atomic"}, markers...)
	}
	decl := Decl{Name: name, Doc: typeDoc(ownDescription(s, path), markers)}
	fields := fieldNames{newNameSet(copyMethods...)}.addAll(s.Properties)
	for _, p := range s.Properties {
		decl.Fields = append(decl.Fields, b.field(s, p, name, path, fields[p.Name]))
	}
	b.Decls[at] = decl
	return name
}

// ownDescription returns the description of a type. That of a property is in the comment of its field; the
// items of a list and the values of a map have no field.
func ownDescription(s *Schema, path string) string {
	if strings.HasSuffix(path, "[]") || strings.HasSuffix(path, "{}") {
		return s.Description
	}
	return ""
}

// typeDoc returns the comment of a type. In those, but not in comments of fields, gofmt makes typographic
// quotes of two single ones or two backquotes. In a marker these are in a string.
func typeDoc(description string, markers []string) []string {
	doc := comment(description)
	if len(doc) > 0 && len(markers) > 0 {
		doc = append(doc, "")
	}
	for _, m := range markers {
		doc = append(doc, strings.NewReplacer("''", `'\x27`, "``", "`\\x60").Replace(m))
	}
	return doc
}

func (b *builder) enum(s *Schema, name, path string) string {
	name = b.names.add(name)
	decl := Decl{Name: name,
		Doc: typeDoc(ownDescription(s, path), s.validation("+kubebuilder:validation:", "string"))}
	seen := map[string]bool{}
	for i, v := range s.Enum {
		value, ok := v.(string)
		if !ok || seen[value] {
			continue // null, which nullable expresses, or a duplicate
		}
		seen[value] = true
		suffix := goName(value, "")
		switch {
		case value == "":
			suffix = "Empty"
		case suffix == "":
			suffix = "Value" + strconv.Itoa(i+1)
		}
		decl.Consts = append(decl.Consts, Const{b.names.add(name + suffix), strconv.Quote(value)})
	}
	if len(decl.Consts) == 0 {
		return "string"
	}
	b.Decls = append(b.Decls, decl)
	return name
}

// raw returns the type of any JSON, and records why it is used.
func (b *builder) raw(path, reason string) string {
	b.Raw = append(b.Raw, Raw{path, reason})
	return goType(rawType)
}

// goType returns the name of a type of Kubernetes.
func goType(t reflect.Type) string {
	return render.Package{Path: t.PkgPath()}.Ident(t.Name()).String()
}
