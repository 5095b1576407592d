package view

import "reflect"

// Copy returns a deep copy. It calls DeepCopyInto of types that have it, and copies others
// part by part. It copies unexported fields, functions and channels by assignment.
func Copy[T any](value T) T { return CopyOf(&value) }

// CopyOf is [Copy] for the value behind a pointer, which must not be nil.
func CopyOf[T any](value *T) T {
	var out T
	deepCopy(reflect.ValueOf(&out).Elem(), reflect.ValueOf(value).Elem())
	return out
}

// deepCopy sets out, which can be addressed, to a copy of in.
func deepCopy(out, in reflect.Value) {
	if copied(out, in) {
		return
	}
	out.Set(in)
	switch in.Kind() {
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			deepCopy(out.Elem(), in.Elem())
		}
	case reflect.Interface:
		if !in.IsNil() {
			element := reflect.New(in.Elem().Type()).Elem()
			deepCopy(element, in.Elem())
			out.Set(element)
		}
	case reflect.Slice:
		if !in.IsNil() {
			out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
			for i := range in.Len() {
				deepCopy(out.Index(i), in.Index(i))
			}
		}
	case reflect.Array:
		for i := range in.Len() {
			deepCopy(out.Index(i), in.Index(i))
		}
	case reflect.Map:
		if !in.IsNil() {
			out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
			for key, value := range in.Seq2() {
				element := reflect.New(in.Type().Elem()).Elem()
				deepCopy(element, value)
				out.SetMapIndex(key, element)
			}
		}
	case reflect.Struct:
		for i := range in.NumField() {
			if in.Type().Field(i).IsExported() {
				deepCopy(out.Field(i), in.Field(i))
			}
		}
	}
}

// copied copies by DeepCopyInto. It returns false if the type doesn't have the method.
func copied(out, in reflect.Value) bool {
	if in.Kind() != reflect.Struct {
		return false
	}
	from := in
	if !from.CanAddr() {
		from = reflect.New(in.Type()).Elem()
		from.Set(in)
	}
	method := from.Addr().MethodByName("DeepCopyInto")
	if !method.IsValid() || method.Type().NumIn() != 1 || method.Type().NumOut() != 0 ||
		method.Type().In(0) != out.Addr().Type() {
		return false
	}
	method.Call([]reflect.Value{out.Addr()})
	return true
}
