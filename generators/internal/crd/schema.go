package crd

import (
	"encoding/json"
	"go/token"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// Schema is the part of an OpenAPI schema that types and markers need.
type Schema struct {
	Pos token.Position
	// Type is "" where it isn't one of OpenAPI's: for IntOrString, and for anything with PreserveUnknown.
	Type, Format, Description string
	// Properties are sorted by name.
	Properties []Property
	// Required are the names of required properties, sorted.
	Required []string
	// Items is the schema of the items of an array, Values that of the values of a map.
	Items, Values *Schema
	// AnyValues is true for a map of anything, and beside properties for an object with more fields.
	AnyValues bool
	// PreserveUnknown of an array is that of its items, too, as servers keep their unknown fields.
	Nullable, IntOrString, PreserveUnknown, Embedded bool
	// Enum are the values of the enumeration, in order; Default is JSON, "" for none.
	Enum    []any
	Default string
	// Limits are the other keywords that validate, in the order of limitKeywords; each is JSON.
	Limits []Limit
	Rules  []Rule
	// ListType, ListKeys and MapType are for server-side apply.
	ListType string
	ListKeys []string
	MapType  string
	// def is the parsed default, defaultAt where it is.
	def       any
	defaultAt value
}

// Property is a property of an object.
type Property struct {
	Name string
	*Schema
}

// Limit is a keyword and its value, as JSON.
type Limit struct{ Keyword, Value string }

// Rule is a validation rule in CEL: its fields as JSON, in the order of ruleKeys.
type Rule []Limit

// The keywords of schemas. Those that limit values become markers.
var (
	limitKeywords = []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties",
		"maxProperties"}
	typeKeywords = []string{"type", "format", "description", "properties", "required", "items",
		"additionalProperties", "nullable", "enum", "default", "x-kubernetes-int-or-string",
		"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-validations",
		"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"}
	// otherKeywords have no counterpart in types and markers.
	otherKeywords = []string{"title", "example", "externalDocs"}
	// junctorKeywords hold schemas that only validate.
	junctorKeywords = []string{"allOf", "anyOf", "oneOf", "not"}
	// forbiddenKeywords are those that no server accepts.
	forbiddenKeywords = []string{"$ref", "$schema", "definitions", "dependencies", "id", "patternProperties",
		"additionalItems"}
	types = []string{"object", "array", "string", "integer", "number", "boolean"}
	// ruleKeys are the fields of a validation rule.
	ruleKeys = []string{"rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"}
)

// required reports whether a property has to be there.
func (s *Schema) required(name string) bool {
	_, found := slices.BinarySearch(s.Required, name)
	return found
}

// schema reads a schema. root is true for that of a whole object.
func (v value) schema(root bool) *Schema {
	s := &Schema{Pos: v.pos()}
	before := v.r.errors()
	fields := v.object()
	for _, key := range sortedKeys(fields) {
		s.keyword(key, fields[key])
	}
	v.checkKeywords(fields)
	checkJunctors(fields)
	for _, keyword := range limitKeywords {
		if limit, ok := fields[keyword]; ok && !limit.isNull() {
			limit.checkLimit(keyword)
			s.Limits = append(s.Limits, Limit{keyword, limit.jsonText()})
		}
	}
	slices.SortFunc(s.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	if s.Type == "array" && s.PreserveUnknown {
		for items := s.Items; items != nil; items = items.Items {
			items.PreserveUnknown = true
		}
	}
	// A schema that can't be read is not checked as a whole.
	if v.r.errors() == before {
		v.checkStructure(s, fields, root)
	}
	return s
}

// checkKeywords reports the keywords that no server accepts, and those that it would ignore.
func (v value) checkKeywords(fields map[string]value) {
	others := make(map[string]value, len(fields))
	for _, key := range sortedKeys(fields) {
		if slices.Contains(forbiddenKeywords, key) {
			fields[key].errorf("no server accepts this in the schema of a CustomResourceDefinition")
		} else {
			others[key] = fields[key]
		}
	}
	v.known(others, slices.Concat(typeKeywords, limitKeywords, junctorKeywords), otherKeywords)
}

// keyword reads a keyword that is about the type.
func (s *Schema) keyword(key string, v value) {
	switch key {
	case "type":
		s.Type = v.text()
		if s.Type != "" && !slices.Contains(types, s.Type) {
			v.errorf("%q is no type of OpenAPI%s", s.Type, marker.Suggest(s.Type, types))
		}
	case "format":
		s.Format = v.text()
	case "description":
		s.Description = v.text()
	case "properties":
		for _, e := range v.entries() {
			s.Properties = append(s.Properties, Property{e.key, e.schema(false)})
		}
	case "required":
		s.Required = v.texts()
		slices.Sort(s.Required)
	case "items":
		s.Items = v.schema(false)
	case "additionalProperties":
		switch {
		case v.Kind != yaml.ScalarNode:
			s.Values = v.schema(false)
		case !v.isNull():
			s.AnyValues = v.flag()
		}
	case "nullable":
		s.Nullable = v.flag()
	case "enum":
		for _, item := range v.list() {
			s.Enum = append(s.Enum, item.json())
		}
	case "title", "externalDocs":
		v.checkText(key)
	case "default":
		if parsed := v.json(); parsed != nil {
			s.Default, s.def, s.defaultAt = jsonOf(parsed), parsed, v
		}
	case "x-kubernetes-int-or-string":
		s.IntOrString = v.flag()
	case "x-kubernetes-preserve-unknown-fields":
		if s.PreserveUnknown = v.flag(); !s.PreserveUnknown && !v.isNull() {
			v.errorf("no server accepts another value than true; leave it out")
		}
	case "x-kubernetes-embedded-resource":
		s.Embedded = v.flag()
	case "x-kubernetes-validations":
		for _, item := range v.list() {
			s.Rules = append(s.Rules, item.rule())
		}
	case "x-kubernetes-list-type":
		s.ListType = v.oneOf("atomic", "set", "map")
	case "x-kubernetes-list-map-keys":
		s.ListKeys = v.lines()
	case "x-kubernetes-map-type":
		s.MapType = v.oneOf("atomic", "granular")
	}
}

// oneOf returns a string that is one of known, "" for null. Anything else is reported.
func (v value) oneOf(known ...string) string {
	before := v.r.errors()
	text := v.text()
	if v.r.errors() == before && !v.isNull() && !slices.Contains(known, text) {
		v.errorf("%q is none of %s%s", text, strings.Join(known, ", "), marker.Suggest(text, known))
	}
	return text
}

// jsonText returns the value as JSON.
func (v value) jsonText() string { return jsonOf(v.json()) }

// jsonOf returns JSON of what value.json returns, on one line.
func jsonOf(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // parsed values can be encoded
	}
	return strings.TrimSuffix(text.String(), "\n")
}
