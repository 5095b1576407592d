package crds

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// exceptions are the parts of a schema that the types and markers of an import don't have: docs/import.md
// lists them. The values count them.
type exceptions map[string]int

// place says which markers there are for a schema.
type place int

const (
	ofField place = iota
	ofItems
	deeper // in a map, or in a list of lists
)

// root takes the exceptions out of the schema of an object.
func (e exceptions) root(s *apiextensionsv1.JSONSchemaProps) {
	if metadata := s.Properties["metadata"]; len(metadata.Properties) > 0 || len(metadata.XValidations) > 0 {
		e["metadata"]++
	}
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata"
	})
	if s.Properties == nil {
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	for name, typ := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
		s.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: typ}
	}
	e.junctors(s)
	e.inside(s, ofField)
}

// anything is the schema of runtime.RawExtension.
var anything = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}

// schema takes the exceptions out of a schema inside of an object.
func (e exceptions) schema(s *apiextensionsv1.JSONSchemaProps, at place) {
	preserves := s.XPreserveUnknownFields != nil
	e.junctors(s)
	if s.Type == "array" && preserves && s.Items.Schema.Type != "string" {
		for items := s.Items.Schema; items != nil; items = items.Items.Schema {
			items.XPreserveUnknownFields = new(true)
			if items.Items == nil {
				break
			}
		}
	}
	more := s.AdditionalProperties
	values := more != nil && (more.Allows || more.Schema != nil)
	unnamed := false // no Go tag can have the name
	for name := range s.Properties {
		unnamed = unnamed || name == "" || strings.ContainsAny(name, "\"'`,\\")
	}
	whole := s.XEmbeddedResource || len(s.Properties) > 0 && (preserves || values || unnamed)
	switch {
	case s.XIntOrString:
		if s.Minimum != nil || s.Maximum != nil || s.MultipleOf != nil {
			e["numbers"]++
			s.Minimum, s.Maximum, s.MultipleOf = nil, nil, nil
			s.ExclusiveMinimum, s.ExclusiveMaximum = false, false
		}
	case s.Type == "" && at != ofField:
		e["any"]++
		s.Type = "object"
	case whole, s.Type == "object" && preserves && !values:
		if len(s.Properties) > 0 || !preserves {
			e["raw"]++
		}
		s.Type, s.Properties, s.AdditionalProperties, s.Required = "object", nil, nil, nil
		s.MinProperties, s.MaxProperties = nil, nil
		s.XPreserveUnknownFields, s.XMapType = new(true), nil
	}
	if values && s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil {
		e["any"]++
		s.AdditionalProperties.Schema = anything.DeepCopy()
	}
	for i := range s.Enum {
		if string(s.Enum[i].Raw) == "null" {
			e["null"]++
			s.Enum[i].Raw = []byte(`"null"`)
		}
	}
	if at != ofField {
		e.element(s, at)
	}
	e.inside(s, at)
}

// element takes out what there are no markers for at items of lists and values of maps.
func (e exceptions) element(s *apiextensionsv1.JSONSchemaProps, at place) {
	before := s.DeepCopy()
	s.Nullable, s.Default = false, nil
	s.XListType, s.XListMapKeys = nil, nil
	isStruct := s.Type == "object" && s.XPreserveUnknownFields == nil && s.AdditionalProperties == nil
	isEnum := s.Type == "string" && len(s.Enum) > 0
	if !isStruct {
		s.XMapType = nil
	}
	if at == deeper && !isStruct && !isEnum {
		kept := apiextensionsv1.JSONSchemaProps{Type: s.Type, Format: s.Format, Items: s.Items,
			AdditionalProperties: s.AdditionalProperties, XPreserveUnknownFields: s.XPreserveUnknownFields,
			XIntOrString: s.XIntOrString}
		if !(s.Type == "integer" && s.Format == "int32" || s.Format == "byte") {
			kept.Format = ""
		}
		*s = kept
	}
	after := s.DeepCopy()
	normal(before)
	normal(after)
	if !reflect.DeepEqual(before, after) {
		e["element"]++
	}
}

// junctors takes out allOf, anyOf, oneOf and not, but for the anyOf that integers or strings have.
func (e exceptions) junctors(s *apiextensionsv1.JSONSchemaProps) {
	if len(s.AllOf) > 0 || len(s.OneOf) > 0 || s.Not != nil || len(s.AnyOf) > 0 && !s.XIntOrString {
		e["junctors"]++
	}
	s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil
}

// inside takes the exceptions out of the schemas in a schema.
func (e exceptions) inside(s *apiextensionsv1.JSONSchemaProps, at place) {
	for name, p := range s.Properties {
		e.schema(&p, ofField)
		s.Properties[name] = p
	}
	if s.Items != nil {
		e.schema(s.Items.Schema, min(at+1, deeper))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		e.schema(s.AdditionalProperties.Schema, deeper)
	}
}

// altered matches what a comment can't have, and lines that would be something else there.
var altered = regexp.MustCompile(`\n\n\n|\pZ(\n|$)|(^|\n)(\s*\+|TODO|---)|[\a\v\f\r]|^\n|\n$`)

// descriptions compares the descriptions of properties, which are in comments of fields, and counts those
// that come back.
func descriptions(t *testing.T, path string, want, got *apiextensionsv1.JSONSchemaProps) (n int) {
	for name, p := range want.Properties {
		other, ok := got.Properties[name]
		if !ok {
			continue
		}
		if p.Description == other.Description {
			n++
		} else if !altered.MatchString(p.Description) {
			t.Errorf("%s.%s: the description %q comes back as %q", path, name, p.Description, other.Description)
		}
		n += descriptions(t, path+"."+name, &p, &other)
	}
	if want.Items != nil && got.Items != nil {
		n += descriptions(t, path+"[]", want.Items.Schema, got.Items.Schema)
	}
	if want, got := want.AdditionalProperties, got.AdditionalProperties; want != nil && want.Schema != nil &&
		got != nil && got.Schema != nil {
		n += descriptions(t, path+"{}", want.Schema, got.Schema)
	}
	return n
}

// normal takes out what makes no difference for objects.
func normal(s *apiextensionsv1.JSONSchemaProps) {
	s.Description, s.Title, s.Example, s.ExternalDocs = "", "", nil, nil
	if s.XIntOrString {
		s.AnyOf, s.Type = nil, ""
	}
	if s.Type == "integer" && s.Format == "int64" {
		s.Format = ""
	}
	if s.XMapType != nil && *s.XMapType == "granular" {
		s.XMapType = nil
	}
	if s.XListType != nil && *s.XListType == "atomic" {
		s.XListType = nil
	}
	if values := s.AdditionalProperties; values != nil && !values.Allows && values.Schema == nil {
		s.AdditionalProperties = nil
	}
	if s.Type != "" && s.Type != "object" && s.Type != "array" {
		s.XPreserveUnknownFields = nil
	}
	if slices.Sort(s.Required); len(s.Required) == 0 {
		s.Required = nil
	}
	if len(s.Properties) == 0 {
		s.Properties = nil
	}
	for name, p := range s.Properties {
		normal(&p)
		s.Properties[name] = p
	}
	if s.Items != nil {
		normal(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		normal(s.AdditionalProperties.Schema)
	}
}
