package crd

import "slices"

// checkStructure reports what keeps a schema from being structural: no server accepts it, and it has no type.
func (v value) checkStructure(s *Schema, fields map[string]value, root bool) {
	additional := fields["additionalProperties"]
	hasAdditional := additional.Node != nil && !additional.isNull()
	switch anyKind := s.Type == "" && s.PreserveUnknown; {
	case root && s.Type != "object" && !anyKind:
		v.errorf("the schema of a whole object needs type: object")
	case (root || s.Embedded) && hasAdditional:
		v.errorf("a whole object can't have additionalProperties")
	case s.IntOrString && (s.PreserveUnknown || s.Embedded):
		v.errorf("x-kubernetes-int-or-string excludes the keywords for objects")
	case s.Embedded && s.Type != "object":
		v.errorf("x-kubernetes-embedded-resource needs type: object")
	case s.Embedded && !s.PreserveUnknown && len(s.Properties) == 0:
		v.errorf("x-kubernetes-embedded-resource needs properties or x-kubernetes-preserve-unknown-fields: true")
	case s.Type == "" && !s.IntOrString && !anyKind:
		v.errorf("type is missing; give one, or x-kubernetes-int-or-string or" +
			" x-kubernetes-preserve-unknown-fields: true")
	case s.Type == "array" && s.Items == nil:
		v.errorf("an array needs items")
	case hasAdditional && !s.AnyValues && len(s.Properties) > 0:
		v.errorf("additionalProperties other than true and properties exclude each other")
	case s.ListType != "" && s.Type != "array":
		v.errorf("x-kubernetes-list-type needs type: array")
	case s.MapType != "" && s.Type != "object":
		v.errorf("x-kubernetes-map-type needs type: object")
	case (s.ListType == "map") != (len(s.ListKeys) > 0):
		v.errorf("x-kubernetes-list-type: map and x-kubernetes-list-map-keys need each other")
	case s.ListType == "map" || s.ListType == "set":
		v.checkListItems(s)
	case s.Type == "string":
		for i, item := range s.Enum {
			if _, ok := item.(string); !ok && item != nil {
				v.errorf("value %d of enum is %s, not a string; quote it", i+1, jsonOf(item))
			}
		}
	}
	if root || s.Embedded {
		v.checkMeta(s)
	}
	if rules, ok := fields["x-kubernetes-validations"]; ok {
		for _, rule := range rules.list() {
			rule.checkRule(s)
		}
	}
}

// checkListItems reports items that the type of their list doesn't allow.
func (v value) checkListItems(s *Schema) {
	items := s.Items
	switch {
	case items.Nullable:
		v.errorf("the items of x-kubernetes-list-type: %s can't be nullable", s.ListType)
	case s.ListType == "map" && items.Type != "object":
		v.errorf("the items of x-kubernetes-list-type: map need type: object")
	case s.ListType == "set" && items.Type == "object" && items.MapType != "atomic":
		v.errorf("objects in x-kubernetes-list-type: set need x-kubernetes-map-type: atomic")
	case s.ListType == "set" && items.Type == "array" && items.ListType != "" && items.ListType != "atomic":
		v.errorf("lists in x-kubernetes-list-type: set need x-kubernetes-list-type: atomic")
	}
	for i, key := range s.ListKeys {
		switch property := items.property(key); {
		case property == nil:
			v.errorf("x-kubernetes-list-map-keys has %q, which is no property of the items", key)
		case slices.Contains(s.ListKeys[:i], key):
			v.errorf("x-kubernetes-list-map-keys has %q twice", key)
		case property.Type == "object" || property.Type == "array" || property.Nullable:
			v.errorf("%q of x-kubernetes-list-map-keys is an object, a list or nullable", key)
		case !items.required(key) && property.Default == "":
			v.errorf("%q of x-kubernetes-list-map-keys has to be required or to have a default", key)
		}
	}
}

// checkMeta checks, in the schema of a whole object, the fields that every object has.
func (v value) checkMeta(s *Schema) {
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		want := "string"
		if name == "metadata" {
			want = "object"
		}
		if property := s.property(name); property != nil && property.Type != want {
			v.errorf("%s of a whole object needs type: %s", name, want)
		}
	}
}

// rootKeywords are those that servers don't accept for an object with the subresource status: they split its
// schema.
var rootKeywords = []string{"allOf", "anyOf", "oneOf", "not", "enum", "default", "minProperties",
	"maxProperties", "x-kubernetes-embedded-resource", "x-kubernetes-map-type", "x-kubernetes-int-or-string"}

// checkRoot checks the rules for the root of a version's schema.
func (v value) checkRoot(version *Version) {
	fields := v.object()
	if version.Schema.Nullable {
		v.errorf("a whole object can't be nullable")
	}
	if version.Status {
		if version.Schema.Type != "object" {
			v.errorf("the subresource status needs type: object")
		}
		for _, key := range rootKeywords {
			if field, ok := fields[key]; ok && !field.empty() {
				field.errorf("no server accepts this for a whole object with the subresource status")
			}
		}
	}
	properties := fields["properties"]
	if properties.Node == nil {
		return
	}
	for name, property := range properties.object() {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			continue
		}
		keywords := property.object()
		if def, ok := keywords["default"]; ok && !def.isNull() {
			def.errorf("no server accepts a default for this")
		}
		if name == "metadata" {
			property.checkMetadata(keywords)
		}
	}
}

// checkMetadata checks the schema of an object's metadata, in which few keywords are allowed.
func (v value) checkMetadata(keywords map[string]value) {
	for _, key := range sortedKeys(keywords) {
		switch field := keywords[key]; {
		case key == "type" || key == "default" || field.empty():
		case key != "properties":
			field.errorf("the schema of metadata may have type and properties only")
		default:
			properties := field.object()
			for _, name := range sortedKeys(properties) {
				if name != "name" && name != "generateName" {
					properties[name].errorf("the schema of metadata may have the properties name and generateName only")
				} else if def, ok := properties[name].object()["default"]; ok && !def.isNull() {
					def.errorf("no server accepts a default for this")
				}
			}
		}
	}
}
