// Package unwrap finds the informer inside typed informers that wrap it, and wraps typed handlers.
package unwrap

import (
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/clientgo"
)

// Wrapper is a typed informer that wraps another one. Untyped returns the wrapped one.
type Wrapper interface{ Untyped() cache.SharedInformer }

// Innermost returns the informer inside all wrappers, client-go's included.
func Innermost(i cache.SharedInformer) cache.SharedInformer {
	for {
		if typed, ok := i.(Wrapper); ok {
			i = typed.Untyped()
		} else if inside, ok, _ := clientgo.Untyped(i); ok {
			i, _ = inside.(cache.SharedInformer)
		} else {
			return i
		}
	}
}

// As returns the innermost informer as an I. ok is false if it isn't an I.
func As[I any](i cache.SharedInformer) (found I, ok bool) {
	found, ok = Innermost(i).(I)
	return found, ok
}

// Same reports whether a and b are, or wrap, the same informer. Informers of types that can't
// be compared are never the same.
func Same(a, b cache.SharedInformer) bool {
	a, b = Innermost(a), Innermost(b)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
