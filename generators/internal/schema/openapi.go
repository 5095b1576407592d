package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OpenAPI are the definitions of an OpenAPI v2 document.
type OpenAPI map[string]*definition

// definition is a definition of OpenAPI, reduced to what matters for a schema.
type definition struct {
	Ref                  string                 `json:"$ref"`
	Type                 oneOrMany              `json:"type"`
	Format               string                 `json:"format"`
	Properties           map[string]*definition `json:"properties"`
	Items                *definition            `json:"items"`
	AdditionalProperties *schemaOrBool          `json:"additionalProperties"`
	Default              json.RawMessage        `json:"default"`
	ListType             string                 `json:"x-kubernetes-list-type"`
	ListMapKeys          []string               `json:"x-kubernetes-list-map-keys"`
	PatchStrategy        string                 `json:"x-kubernetes-patch-strategy"`
	PatchMergeKey        string                 `json:"x-kubernetes-patch-merge-key"`
	MapType              string                 `json:"x-kubernetes-map-type"`
	PreserveUnknown      bool                   `json:"x-kubernetes-preserve-unknown-fields"`
	Unions               []struct {
		Discriminator string            `json:"discriminator"`
		Fields        map[string]string `json:"fields-to-discriminateBy"`
	} `json:"x-kubernetes-unions"`
}

// oneOrMany is a string or a list of strings.
type oneOrMany []string

// UnmarshalJSON accepts both forms: JSON schema allows a list of types, OpenAPI v2 usually has
// one.
func (o *oneOrMany) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(o))
	}
	*o = make([]string, 1)
	return json.Unmarshal(text, &(*o)[0])
}

// schemaOrBool is a definition, or a boolean, which is read as no definition.
type schemaOrBool struct{ *definition }

// UnmarshalJSON accepts both forms. true allows any additional properties, as a missing
// definition does.
func (s *schemaOrBool) UnmarshalJSON(text []byte) error {
	if string(text) == "true" || string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, &s.definition)
}

// ParseOpenAPI parses a document in JSON.
func ParseOpenAPI(text []byte) (OpenAPI, error) {
	var document struct {
		Definitions OpenAPI `json:"definitions"`
	}
	err := json.Unmarshal(text, &document)
	return document.Definitions, err
}

// Schema returns the schema of the roots and of all definitions that they refer to. A root
// without a definition is of unknown type: the document may be older than the Go types. A
// reference without a definition is an error.
func (o OpenAPI) Schema(roots []string) (Schema, error) {
	c := converter{api: o, schema: Schema{}}
	for _, name := range roots {
		if o[name] == nil {
			c.schema[name] = Deduced()
			continue
		}
		c.want(name)
	}
	// Definitions can be recursive, so they are queued rather than converted on sight.
	for len(c.wanted) > 0 && c.err == nil {
		name := c.wanted[0]
		c.wanted = c.wanted[1:]
		c.current = name
		// A definition that only refers to another one has no atom of its own.
		if atom := c.atom(o[name], false); atom != (Atom{}) {
			c.schema[name] = atom
		}
	}
	return c.schema, c.err
}

// converter is the state of a conversion.
type converter struct {
	api    OpenAPI
	schema Schema
	// wanted are the definitions to convert, seen those that were ever wanted, and
	// current is the one that is being converted.
	wanted  []string
	seen    map[string]bool
	current string
	err     error
}

// want adds a definition to those to convert.
func (c *converter) want(name string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !c.seen[name] {
		c.seen[name] = true
		c.wanted = append(c.wanted, name)
	}
}

// fail records the first error.
func (c *converter) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s", c.current, fmt.Sprintf(format, args...))
	}
}

// ref returns the type of a field or of an element. preserve is true if an object of that
// type keeps unknown fields.
func (c *converter) ref(d *definition, preserve bool) Ref {
	if d == nil {
		return Ref{Inline: Deduced()}
	}
	if d.Ref == "" {
		r := Ref{Inline: c.atom(d, preserve)}
		if r.IsZero() {
			r.Name = UntypedAtomic
		}
		return r
	}
	// References to other documents can't be followed.
	name, ok := strings.CutPrefix(d.Ref, "#/definitions/")
	if !ok || c.api[name] == nil {
		c.fail("refers to %s, which doesn't exist", d.Ref)
		return Ref{}
	}
	c.want(name)
	// A raw extension holds an object of any type, so it is replaced as a whole.
	if strings.HasSuffix(name, rawExtension) {
		return Ref{Name: UntypedAtomic}
	}
	return Ref{Name: name, Relationship: c.mapRelationship(d)}
}

// Definitions that don't describe how their values are encoded.
const (
	rawExtension = "io.k8s.apimachinery.pkg.runtime.RawExtension"
	quantity     = "io.k8s.apimachinery.pkg.api.resource.Quantity"
)

// atom converts a definition. The rules are those of schemaconv in kube-openapi.
func (c *converter) atom(d *definition, preserve bool) Atom {
	// Of several types the first counts, as in kube-openapi.
	kind := ""
	if len(d.Type) > 0 {
		kind = d.Type[0]
	}
	switch {
	case d.Ref != "" && kind == "": // another name for a definition
		c.ref(d, preserve)
		return Atom{}
	case kind == "" && len(d.Properties) == 0: // says nothing about the value
		return Deduced()
	case kind == "array":
		list := &List{Element: c.ref(d.Items, preserve)}
		list.Relationship, list.Keys = c.listRelationship(d)
		return Atom{List: list}
	case kind == "" || kind == "object" && len(d.Properties) > 0:
		return Atom{Map: c.object(d, preserve)}
	case kind == "object":
		m := &Map{Relationship: c.mapRelationship(d)}
		if d.AdditionalProperties != nil {
			m.Element = c.ref(d.AdditionalProperties.definition, preserve)
		} else {
			m.Element = Ref{Inline: Deduced()}
		}
		return Atom{Map: m}
	case c.current == quantity: // a string by its definition, but numbers are valid, too
		return Atom{Scalar: Untyped}
	}
	return Atom{Scalar: scalar(kind, d.Format)}
}

// object converts a definition with properties.
func (c *converter) object(d *definition, preserve bool) *Map {
	preserve = preserve || d.PreserveUnknown
	m := &Map{Relationship: c.mapRelationship(d)}
	// Sorted, as the order of properties means nothing and the output must be stable.
	for _, name := range slices.Sorted(maps.Keys(d.Properties)) {
		property := d.Properties[name]
		field := Field{Name: name, Type: c.ref(property, preserve)}
		// null is the zero value of a pointer, and no default.
		if string(property.Default) != "null" {
			field.Default = string(property.Default)
		}
		m.Fields = append(m.Fields, field)
	}
	// Generated code carries unions along, although structured-merge-diff ignores them.
	for _, u := range d.Unions {
		union := Union{Discriminator: u.Discriminator}
		for _, name := range slices.Sorted(maps.Keys(u.Fields)) {
			union.Fields = append(union.Fields, [2]string{name, u.Fields[name]})
		}
		m.Unions = append(m.Unions, union)
	}
	// Unknown fields are merged like known ones of unknown type.
	if preserve {
		m.Element = Ref{Name: UntypedDeduced}
	}
	return m
}

// scalar returns the type of a primitive value.
func scalar(kind, format string) string {
	switch {
	case kind == "integer", kind == "number":
		return Numeric
	case kind == "boolean":
		return Boolean
	// kube-openapi takes other formats, such as int-or-string, for untyped scalars.
	case kind == "string" && (format == "" || format == "byte"):
		return String
	}
	return Untyped
}

// listRelationship returns how a list is merged: by its list type, or else by the older
// patch strategy.
func (c *converter) listRelationship(d *definition) (relationship string, keys []string) {
	switch d.ListType {
	case "atomic":
		return Atomic, nil
	case "set":
		return Associative, nil
	case "map":
		// Elements are merged if their keys are equal.
		if len(d.ListMapKeys) == 0 {
			c.fail("a list of type map has no map keys")
		}
		return Associative, d.ListMapKeys
	case "":
	default:
		c.fail("unknown list type %q", d.ListType)
	}
	if strategy, _, _ := strings.Cut(d.PatchStrategy, ","); strategy == "merge" {
		if d.PatchMergeKey != "" {
			keys = []string{d.PatchMergeKey}
		}
		return Associative, keys
	}
	return Atomic, nil
}

// mapRelationship returns how a map or an object is merged, "" for the default.
func (c *converter) mapRelationship(d *definition) string {
	switch d.MapType {
	case "":
		return ""
	case "atomic":
		return Atomic
	case "granular":
		return Separable
	}
	c.fail("unknown map type %q", d.MapType)
	return ""
}
