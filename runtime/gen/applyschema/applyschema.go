// Package applyschema is for generated code, which extracts apply configurations with it and merges them in
// fakes: it holds the schema of the types that have apply configurations, as structured-merge-diff needs it.
//
// Neither this package nor generated code names that library, because each minor of apimachinery may use
// another major version of it: Go infers its types from the functions of managedfields.
package applyschema

import (
	"fmt"

	"go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// Schema is the schema of types: their fields, and how to merge them. It is safe for concurrent use.
type Schema struct {
	extract   func(object runtime.Object, name, fieldManager string, config any, subresource string) error
	converter func(*runtime.Scheme) managedfields.TypeConverter
}

// New parses a schema in YAML. It panics if that fails, and doesn't validate the schema: the tests of the
// generators do.
func New(text string) *Schema {
	parser := newSecond(managedfields.NewSchemeTypeConverter)
	if err := yaml.Unmarshal([]byte(text), &parser.Schema); err != nil {
		panic(fmt.Sprintf("parse the schema of apply configurations: %v", err))
	}
	return &Schema{
		extract: func(
			object runtime.Object, name, fieldManager string, config any, subresource string,
		) error {
			return managedfields.ExtractInto(object, parser.Type(name), fieldManager, config, subresource)
		},
		converter: func(scheme *runtime.Scheme) managedfields.TypeConverter {
			return managedfields.NewSchemeTypeConverter(scheme, parser)
		},
	}
}

// newSecond returns a new zero value for the second parameter of a function: the parser of the version of
// structured-merge-diff that apimachinery uses.
func newSecond[P, R any](func(*runtime.Scheme, *P) R) *P { return new(P) }

// Extract sets config, which must be empty, to the fields of object that fieldManager owns in subresource,
// as [managedfields.ExtractInto] does. name is the name of the object's type in the schema.
func (s *Schema) Extract(
	object runtime.Object, name, fieldManager string, config any, subresource string,
) error {
	return s.extract(object, name, fieldManager, config, subresource)
}

// ExtractByJSON is like [Schema.Extract], but converts object and config by way of JSON: for schemas with
// types that have custom encodings.
func (s *Schema) ExtractByJSON(
	object runtime.Object, name, fieldManager string, config any, subresource string,
) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	u, fields := &unstructured.Unstructured{}, map[string]any{}
	if err := json.Unmarshal(text, &u.Object); err != nil {
		return err
	}
	if err := s.extract(u, name, fieldManager, &fields, subresource); err != nil {
		return err
	}
	if text, err = json.Marshal(fields); err != nil {
		return err
	}
	return json.Unmarshal(text, config)
}

// TypeConverter returns a TypeConverter, which field managers use, for the types in scheme that are in the
// schema.
func (s *Schema) TypeConverter(scheme *runtime.Scheme) managedfields.TypeConverter {
	return s.converter(scheme)
}
