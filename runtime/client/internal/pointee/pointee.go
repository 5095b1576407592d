// Package pointee makes values of pointer types for generic code.
package pointee

import "reflect"

// New returns a pointer of type P to a new value; it panics if P is no pointer
// type. The alternative, a type parameter for the struct, has the compiler make
// the methods of every struct once more where a client is made; pointers share
// one instance.
func New[P any]() P { return like(*new(P)).(P) }

// like returns a pointer of the type of none.
func like(none any) any { return reflect.New(reflect.TypeOf(none).Elem()).Interface() }
