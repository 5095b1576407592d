package compare

import (
	"reflect"
	"strings"
)

// fill sets the contents of v, to the given number of levels, to values derived from the names of fields.
// Names and selectors are valid; other values needn't make sense.
func fill(v reflect.Value, name string, levels int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(name))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		if levels > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), name, levels)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			// This is raw JSON, not just bytes.
			v.SetBytes([]byte("{}"))
		} else if levels > 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), name, levels-1)
		}
	case reflect.Map:
		if levels > 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, "key", levels-1)
			fill(value, name, levels-1)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		if levels > 0 && !opaque(v.Type()) {
			for i := range v.NumField() {
				fill(v.Field(i), v.Type().Field(i).Name, levels-1)
			}
		}
	}
}

// opaque reports whether a type has a text form of its own, rather than that of its fields, as quantities and
// times do.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return t.NumField() == 1 && t.Field(0).Anonymous && opaque(t.Field(0).Type)
}

func text(field string) string {
	switch field {
	case "FieldSelector":
		return "metadata.name=name"
	case "Namespace":
		return "ns"
	case "ResourceVersion":
		return "7"
	}
	return strings.ToLower(field)
}
