package crd

import "slices"

// checkJunctors checks the schemas of allOf, anyOf, oneOf and not. They may only validate fields that are
// specified outside of them.
func checkJunctors(fields map[string]value) {
	for _, key := range junctorKeywords {
		junctor, ok := fields[key]
		if !ok || junctor.isNull() {
			continue
		}
		if key == "not" {
			junctor.checkNested(false)
			continue
		}
		items := junctor.list()
		if key == "anyOf" && isIntOrString(items) {
			continue
		}
		for i, item := range items {
			item.checkNested(key == "allOf" && i == 0)
		}
	}
}

// isIntOrString recognises the only junctor that may give types: anyOf integer and string.
func isIntOrString(anyOf []value) bool {
	if len(anyOf) != 2 {
		return false
	}
	for i, want := range []string{"integer", "string"} {
		fields := anyOf[i].object()
		if t, ok := fields["type"]; !ok || len(fields) != 1 || t.json() != want {
			return false
		}
	}
	return true
}

// outsideKeywords are the keywords that are allowed only outside of junctors.
var outsideKeywords = []string{"type", "additionalProperties", "default", "title", "description", "nullable",
	"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
	"x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations"}

// checkNested checks a schema in a junctor. In the first of allOf, anyOf may give the types of IntOrString.
func (v value) checkNested(intOrString bool) {
	fields := v.object()
	v.checkKeywords(fields)
	for _, key := range sortedKeys(fields) {
		switch field := fields[key]; {
		case field.isNull():
		case slices.Contains(outsideKeywords, key):
			if !field.empty() {
				field.errorf("no server accepts this in allOf, anyOf, oneOf or not; say it outside of them")
			}
		case slices.Contains(limitKeywords, key):
			field.checkLimit(key)
		case key == "required":
			field.texts()
		case key == "enum":
			field.list()
		case key == "items":
			field.checkNested(false)
		case key == "properties":
			for _, property := range field.entries() {
				if property.key == "metadata" {
					property.errorf("no server accepts this in allOf, anyOf, oneOf or not")
				}
				property.checkNested(false)
			}
		}
	}
	if anyOf, ok := fields["anyOf"]; intOrString && ok && isIntOrString(anyOf.list()) {
		delete(fields, "anyOf")
	}
	checkJunctors(fields)
}
