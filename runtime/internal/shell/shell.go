// Package shell sees through informers that show another informer as typed.
package shell

import (
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// Shell is an informer that shows another one, which it returns, as typed.
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

// As finds out whether an informer, or the one inside of a typed one, is an I.
func As[I any](i cache.SharedInformer) (found I, ok bool) {
	found, ok = Innermost(i).(I)
	return found, ok
}

// Same says whether two are one informer, be it seen as typed or not. Informers
// of types that can't be compared are never the same.
func Same(a, b cache.SharedInformer) bool {
	a, b = Innermost(a), Innermost(b)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}
