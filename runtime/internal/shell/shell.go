// Package shell finds the informer inside of those that show it as a typed one.
package shell

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// Shell is an informer that shows another one as typed. Untyped returns that one.
type Shell interface{ Untyped() cache.SharedInformer }

// Innermost returns the informer inside of all shells.
func Innermost(i cache.SharedInformer) cache.SharedInformer {
	for {
		typed, ok := i.(Shell)
		if !ok {
			return i
		}
		i = typed.Untyped()
	}
}

// As returns the innermost informer as an I; ok is false if it isn't one.
func As[I any](i cache.SharedInformer) (found I, ok bool) {
	found, ok = Innermost(i).(I)
	return found, ok
}

// Same says whether a and b are, or show, the same informer. Informers of types that can't
// be compared are never the same.
func Same(a, b cache.SharedInformer) bool {
	a, b = Innermost(a), Innermost(b)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
