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

// changes reports whether reading and writing an object could change the value of the field: if it omits a
// zero that the schema requires or has a default for, or writes a null as a zero. Omitted empty strings
// don't count: where Kubernetes has a default for a string, "" is no value.
func (f jsonField) changes(s *Schema, required bool) bool {
	switch f.typ.Kind() {
	case reflect.Pointer, reflect.Struct: // a struct in the table reads null as none
		return false
	case reflect.Slice, reflect.Map:
		return required && !f.always
	case reflect.String:
		return f.always && s.Nullable
	}
	zero := s.Default == "" || s.Default == "null" || s.Default == "0" || s.Default == "false"
	return f.always && s.Nullable || !f.always && (required || !zero)
}

// zeroIsNone reports whether servers and controllers take the zero value of the field, which is written, as
// none: an empty object, or null, which servers drop. Kubernetes does so with a quantity, the divisor of a
// resource, and with the status of a condition, where "" is the default.
func (f jsonField) zeroIsNone(s *Schema) bool {
	switch f.typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return !s.Nullable
	case reflect.Struct:
		return s.Type == "object" || f.typ == quantityType
	}
	return f.typ == conditionStatusType
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

// fits reports whether the values of a schema can be read into a Go type and written again. It compares
// names and shapes; zero values may be left out.
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
		return s.Type == "array" && fitsElement(s.Items, t.Elem())
	case reflect.Map:
		return s.Type == "object" && s.Values != nil && fitsElement(s.Values, t.Elem())
	case reflect.Struct:
		return fitsStruct(s, t)
	}
	return false
}

// fitsElement is fits for the items of a list or the values of a map, where a null may not become a zero.
func fitsElement(s *Schema, t reflect.Type) bool {
	return fits(s, t) && (!s.Nullable || t.Kind() == reflect.Pointer)
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
		field, ok := fields[p.Name]
		if !ok || !fits(p.Schema, field.typ) || field.changes(p.Schema, s.required(p.Name)) {
			return false
		}
	}
	// A field that the type always writes has to be required, unless its zero value means that nobody set it.
	for name, field := range fields {
		property := s.property(name)
		if field.always && !s.required(name) && (property == nil || !field.zeroIsNone(property)) {
			return false
		}
	}
	return true
}
