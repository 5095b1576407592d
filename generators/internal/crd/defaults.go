package crd

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// checkDefaults reports defaults that their schemas don't allow. Like servers, it skips those in the schema
// of a map's values.
func (s *Schema) checkDefaults() {
	if s == nil {
		return
	}
	if s.Default != "" {
		if why := s.mismatch(s.def); why != "" {
			s.defaultAt.errorf("the default isn't valid: %s", why)
		}
	}
	s.Items.checkDefaults()
	for _, property := range s.Properties {
		property.checkDefaults()
	}
}

// mismatch returns why a JSON value isn't valid for the schema, "" if it finds no reason. It doesn't check
// junctors, formats and rules.
func (s *Schema) mismatch(v any) string {
	if v == nil {
		if s.Nullable || s.Type == "" {
			return ""
		}
		return "null"
	}
	isValue := func(e any) bool { return reflect.DeepEqual(e, v) }
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, isValue) {
		return jsonOf(v) + " is none of enum"
	}
	wrong := jsonOf(v) + " is of another type"
	switch v := v.(type) {
	case string:
		if !s.takes("string") {
			return wrong
		}
		return s.limits("Length", utf8.RuneCountInString(v)) + s.unlike(v)
	case bool:
		if !s.takes("boolean") {
			return wrong
		}
	case json.Number:
		if !s.takes("number") && (!s.takes("integer") || !isInteger(v)) {
			return wrong
		}
		return s.outOfRange(v)
	case []any:
		if !s.takes("array") {
			return wrong
		}
		for _, item := range v {
			if s.Items != nil {
				if why := s.Items.mismatch(item); why != "" {
					return why
				}
			}
		}
		return s.limits("Items", len(v))
	case map[string]any:
		if !s.takes("object") {
			return wrong
		}
		return s.mismatchIn(v)
	}
	return ""
}

// takes reports whether the schema allows values of an OpenAPI type.
func (s *Schema) takes(name string) bool {
	return s.Type == name || s.Type == "" && (!s.IntOrString || name == "string" || name == "integer")
}

// mismatchIn is mismatch for an object.
func (s *Schema) mismatchIn(object map[string]any) string {
	required := s.Required
	if s.Embedded {
		required = append([]string{"apiVersion", "kind"}, required...)
	}
	for _, name := range required {
		if _, ok := object[name]; !ok {
			return name + " is required"
		}
	}
	for _, name := range sortedKeys(object) {
		schema := s.property(name)
		if schema == nil {
			schema = s.Values
		}
		switch {
		case schema != nil:
			if why := schema.mismatch(object[name]); why != "" {
				return name + ": " + why
			}
		case s.AnyValues || s.PreserveUnknown:
		case s.Embedded && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name):
		default:
			return name + " is no property"
		}
	}
	return s.limits("Properties", len(object))
}

// limits checks a size against the keywords for it.
func (s *Schema) limits(what string, n int) string {
	for _, limit := range s.Limits {
		bound, err := strconv.Atoi(limit.Value)
		if err == nil && (limit.Keyword == "min"+what && n < bound || limit.Keyword == "max"+what && n > bound) {
			return fmt.Sprintf("%s is %s", limit.Keyword, limit.Value)
		}
	}
	return ""
}

// unlike checks a string against the pattern.
func (s *Schema) unlike(text string) string {
	for _, limit := range s.Limits {
		if limit.Keyword != "pattern" {
			continue
		}
		var pattern string
		if json.Unmarshal([]byte(limit.Value), &pattern) == nil &&
			!regexp.MustCompile(pattern).MatchString(text) { // it was compiled before
			return "it doesn't match the pattern"
		}
	}
	return ""
}

// outOfRange checks a number against the keywords for it.
func (s *Schema) outOfRange(number json.Number) string {
	n, err := number.Float64()
	if err != nil {
		return string(number) + " is too large"
	}
	for _, limit := range s.Limits {
		bound, err := strconv.ParseFloat(limit.Value, 64)
		if err != nil {
			continue
		}
		out := false
		switch limit.Keyword {
		case "minimum":
			out = n < bound || n == bound && slices.Contains(s.Limits, Limit{"exclusiveMinimum", "true"})
		case "maximum":
			out = n > bound || n == bound && slices.Contains(s.Limits, Limit{"exclusiveMaximum", "true"})
		case "multipleOf":
			out = bound > 0 && n/bound != math.Trunc(n/bound)
		}
		if out {
			return fmt.Sprintf("%s is %s", limit.Keyword, limit.Value)
		}
	}
	return ""
}

// isInteger reports whether a number has no fraction.
func isInteger(number json.Number) bool {
	n, err := number.Float64()
	return err == nil && n == math.Trunc(n)
}
