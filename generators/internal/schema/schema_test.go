package schema

import (
	"strings"
	"testing"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// parse parses a schema's text as generated code does.
func parse(t *testing.T, s Schema) *smd.Schema {
	t.Helper()
	text := s.YAML()
	if strings.Contains(text, "`") {
		t.Errorf("a backtick in\n%s", text)
	}
	parser, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return &parser.Schema
}

// TestYAMLKeepsStrings checks that any name or default survives YAML unchanged.
func TestYAMLKeepsStrings(t *testing.T) {
	names := []string{"plain", "a.b-c_d", "yes", "No", "null", "~", "1", "$ref", "with blank", "a: b", "- x",
		"`tick`", "\"quoted\"", "ünïcode", "<>&", "{}", "#", "tab\t"}
	s := Schema{}
	for _, name := range names {
		s[name] = Atom{Map: &Map{
			Fields: []Field{{Name: name, Type: Ref{Name: name}, Default: jsonString(name)}},
			Unions: []Union{{Discriminator: name, Fields: [][2]string{{name, name}}},
				{Fields: [][2]string{{name, "x"}}}}}}
	}
	parsed := parse(t, s)
	for _, name := range names {
		def, ok := parsed.FindNamedType(name)
		if !ok {
			t.Errorf("type %q is lost", name)
			continue
		}
		f := def.Map.Fields[0]
		if f.Name != name || *f.Type.NamedType != name || f.Default != name {
			t.Errorf("type %q has the field %q of type %q with the default %v", name, f.Name,
				*f.Type.NamedType, f.Default)
		}
		u := def.Map.Unions
		if *u[0].Discriminator != name || u[0].Fields[0].FieldName != name ||
			u[0].Fields[0].DiscriminatorValue != name || u[1].Fields[0].DiscriminatorValue != "x" {
			t.Errorf("type %q has the unions %+v", name, u)
		}
	}
	if len(parsed.Types) != len(names)+2 {
		t.Errorf("%d types, want %d and two for what is not known", len(parsed.Types), len(names))
	}
}

// TestYAMLForms checks that structured-merge-diff parses every form of a type.
func TestYAMLForms(t *testing.T) {
	s := Schema{"t": {
		Scalar: Numeric,
		List:   &List{Element: Ref{Inline: Deduced()}, Relationship: Associative, Keys: []string{"k"}},
		Map:    &Map{Element: Ref{Name: "other", Relationship: Atomic}, Relationship: Separable},
	}, "other": {Map: &Map{}}}
	def, _ := parse(t, s).FindNamedType("t")
	switch {
	case *def.Scalar != smd.Numeric:
		t.Errorf("scalar %v", *def.Scalar)
	case def.List.ElementRelationship != smd.Associative || def.List.Keys[0] != "k" ||
		def.List.ElementType.Inlined.Scalar == nil:
		t.Errorf("list %+v", def.List)
	case def.Map.ElementRelationship != smd.Separable ||
		*def.Map.ElementType.ElementRelationship != smd.Atomic:
		t.Errorf("map %+v", def.Map)
	}
}

func TestOpenAPI(t *testing.T) {
	for name, test := range map[string]struct{ definition, want string }{
		"string":         {`{"type": "string"}`, "scalar: string"},
		"bytes":          {`{"type": "string", "format": "byte"}`, "scalar: string"},
		"time":           {`{"type": "string", "format": "date-time"}`, "scalar: untyped"},
		"number":         {`{"type": "number", "format": "double"}`, "scalar: numeric"},
		"type as a list": {`{"type": ["boolean"]}`, "scalar: boolean"},
		"list": {`{"type": "array", "items": {"type": "string"}}`,
			"list:\n    elementType:\n      scalar: string\n    elementRelationship: atomic"},
		"map of anything": {`{"type": "object", "additionalProperties": true}`,
			"map: {elementType: {scalar: untyped, list: {elementType: {namedType: __untyped_atomic_}, " +
				"elementRelationship: atomic}, map: {elementType: {namedType: __untyped_deduced_}, " +
				"elementRelationship: separable}}}"},
		"reference in a list": {
			`{"type": "array", "items": {"$ref": "#/definitions/root"}, "x-kubernetes-list-type": "set"}`,
			"list:\n    elementType:\n      namedType: root\n    elementRelationship: associative"},
		"properties only": {
			`{"properties": {"b": {"type": "string"}, "a": {"type": "integer", "default": 0}}}`,
			"map:\n    fields:\n    - name: a\n      type:\n        scalar: numeric\n      default: 0\n" +
				"    - name: b\n      type:\n        scalar: string"},
	} {
		t.Run(name, func(t *testing.T) {
			api, err := ParseOpenAPI([]byte(`{"definitions": {"root": ` + test.definition + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			s, err := api.Schema([]string{"root", "absent"})
			if err != nil {
				t.Fatal(err)
			}
			want, err := typed.NewParser(typed.YAMLObject("types:\n- name: root\n  " + test.want))
			if err != nil {
				t.Fatal(err)
			}
			root, _ := parse(t, s).FindNamedType("root")
			if expected, _ := want.Schema.FindNamedType("root"); !root.Equals(&expected) {
				t.Errorf("no %s in\n%s", test.want, s.YAML())
			}
			if _, ok := parse(t, s).FindNamedType("absent"); !ok {
				t.Error("a root that isn't there has no type")
			}
		})
	}
	for name, definition := range map[string]string{
		"dangling reference": `{"type": "array", "items": {"$ref": "#/definitions/none"}}`,
		"foreign reference":  `{"properties": {"a": {"$ref": "http://example.com"}}}`,
		"list type":          `{"type": "array", "items": {}, "x-kubernetes-list-type": "bag"}`,
		"map type":           `{"type": "object", "x-kubernetes-map-type": "loose"}`,
		"no keys":            `{"type": "array", "items": {}, "x-kubernetes-list-type": "map"}`,
	} {
		t.Run(name, func(t *testing.T) {
			api, err := ParseOpenAPI([]byte(`{"definitions": {"root": ` + definition + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := api.Schema([]string{"root"}); err == nil ||
				!strings.HasPrefix(err.Error(), "root: ") {
				t.Errorf("error %v, want one about root", err)
			}
		})
	}
}
