// Package pointee makes and examines values of pointer types for generic code.
package pointee

import "reflect"

// New returns a pointer of type P to a new zero value. It panics if P is not a pointer type. With a type
// parameter for the struct instead, the compiler would compile the methods of every struct once more for each
// client; pointers share one instance.
func New[P any]() P { return like(*new(P)).(P) }

// like returns a pointer of the type of none.
func like(none any) any { return reflect.New(reflect.TypeOf(none).Elem()).Interface() }

// IsNil reports whether v is nil, or a nil pointer.
func IsNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
