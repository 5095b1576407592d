// Package shell finds the informer inside of those that show it as a typed one.
package shell

import (
	"reflect"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// Shell is an informer that shows another one as typed. Untyped returns that one.
type Shell interface{ Untyped() cache.SharedInformer }

// Innermost returns the informer inside of all shells, client-go's included.
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

// clientGos returns what is inside of i if that is client-go's own typed informer, whose
// type has no exported name and no method that says it.
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
