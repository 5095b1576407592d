// Package shell finds the informer inside typed informers that wrap it.
package shell

import (
	"reflect"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// Shell is a typed informer that wraps another one. Untyped returns the wrapped one.
type Shell interface{ Untyped() cache.SharedInformer }

// Innermost returns the informer inside all shells, client-go's included.
func Innermost(i cache.SharedInformer) cache.SharedInformer {
	for {
		if typed, ok := i.(Shell); ok {
			i = typed.Untyped()
		} else if typed, ok := clientGos(i); ok {
			i = typed
		} else {
			return i
		}
	}
}

// clientGos returns the informer inside i if i is client-go's own typed informer. Its type isn't
// exported and has no method that returns the inner one.
func clientGos(i cache.SharedInformer) (inside cache.SharedInformer, ok bool) {
	v := reflect.ValueOf(i)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().PkgPath() != clientGo ||
		!strings.HasPrefix(v.Type().Elem().Name(), "typedSharedIndexInformer[") {
		return nil, false
	}
	field := v.Elem().FieldByName("SharedIndexInformer")
	if !field.IsValid() {
		return nil, false
	}
	inside, _ = field.Interface().(cache.SharedInformer)
	return inside, true
}

// clientGo is the path of client-go's package cache.
var clientGo = reflect.TypeFor[cache.DeletedFinalStateUnknown]().PkgPath()

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
