package crd

import (
	"reflect"
	"strings"
	"sync"
)

// jsonField is a field of a Go struct, as JSON has it.
type jsonField struct {
	typ reflect.Type
	// always is true if the field is written even if it is zero.
	always bool
}

var jsonFieldsOf sync.Map // by reflect.Type

// jsonFields returns the fields of a struct, those of embedded structs included, by their names in JSON.
func jsonFields(t reflect.Type) map[string]jsonField {
	if known, ok := jsonFieldsOf.Load(t); ok {
		return known.(map[string]jsonField)
	}
	fields := map[string]jsonField{}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			for name, inner := range jsonFields(field.Type) {
				fields[name] = inner
			}
		case name != "" && name != "-":
			// A struct is never empty, and thus is written in spite of omitempty.
			omit := strings.Contains(options, "omitzero") ||
				strings.Contains(options, "omitempty") && field.Type.Kind() != reflect.Struct
			fields[name] = jsonField{field.Type, !omit}
		}
	}
	jsonFieldsOf.Store(t, fields)
	return fields
}

// fits reports whether what a schema allows can be read into a Go type and written again. It compares names
// and shapes; zero values may be left out.
func fits(s *Schema, t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case timeType, microTimeType:
		return s.Type == "string" && s.Format == "date-time"
	case durationType:
		return s.Type == "string"
	case quantityType:
		return s.isQuantity()
	case intstrType:
		return s.IntOrString && s.Type == "" && !s.isQuantity()
	case rawType:
		return s.PreserveUnknown && len(s.Properties) == 0
	}
	switch t.Kind() {
	case reflect.String:
		return s.Type == "string" && s.Format != "date-time" && s.Format != "byte"
	case reflect.Bool:
		return s.Type == "boolean"
	case reflect.Int32:
		return s.Type == "integer" && s.Format != "int64"
	case reflect.Int64, reflect.Int:
		return s.Type == "integer"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return s.Type == "string" && s.Format == "byte"
		}
		return s.Type == "array" && fits(s.Items, t.Elem())
	case reflect.Map:
		return s.Type == "object" && s.Values != nil && fits(s.Values, t.Elem())
	case reflect.Struct:
		return fitsStruct(s, t)
	}
	return false
}

func fitsStruct(s *Schema, t reflect.Type) bool {
	if s.Type != "object" || s.PreserveUnknown || s.Embedded || s.Values != nil || s.AnyValues {
		return false
	}
	fields := jsonFields(t)
	if len(s.Properties) == 0 && len(fields) > 0 && t.Name() != "ObjectMeta" {
		return false
	}
	for _, p := range s.Properties {
		if field, ok := fields[p.Name]; !ok || !fits(p.Schema, field.typ) {
			return false
		}
	}
	// What the type always writes has to be required, or the object that it writes would have a field that
	// nobody set. An empty object does no harm.
	for name, field := range fields {
		switch property := s.property(name); {
		case !field.always || s.required(name):
		case property == nil || field.typ.Kind() != reflect.Struct || property.Type != "object":
			return false
		}
	}
	return true
}
