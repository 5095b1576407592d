package informer

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// handlerName names a handler as client-go does: by its type, or, when it is a
// set of functions, by those.
func handlerName(handler cache.ResourceEventHandler) string {
	switch h := handler.(type) {
	case cache.ResourceEventHandlerFuncs:
		return functionNames(h, h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		return functionNames(h, h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	default:
		return typeName(h)
	}
}

// typedHandlerName is handlerName for a typed handler of whatever type.
func typedHandlerName(handler any) string {
	v := reflect.Indirect(reflect.ValueOf(handler))
	if !v.IsValid() || v.Type().PkgPath() != reflect.TypeFor[cache.ResourceEventHandlerFuncs]().PkgPath() ||
		!strings.HasPrefix(v.Type().Name(), "TypedResourceEventHandlerFuncs[") {
		return typeName(handler)
	}
	return functionNames(handler, v.FieldByName("AddFunc").Interface(), v.FieldByName("UpdateFunc").Interface(), v.FieldByName("DeleteFunc").Interface())
}

// typeName is the type of a handler, or what its pointer points to, with the
// path of its package. A type without a name is described.
func typeName(handler any) string {
	if handler == nil {
		return fmt.Sprintf("%T", handler)
	}
	t := reflect.TypeOf(handler)
	if t.Kind() == reflect.Pointer && !reflect.ValueOf(handler).IsNil() {
		t = t.Elem()
	}
	name := t.Name()
	if path := t.PkgPath(); path != "" {
		name = path + "." + name
	}
	if name == "" {
		return fmt.Sprintf("%T", handler)
	}
	return name
}

// functionNames names functions by what they have in common, the function or
// the type that they are written in, or else by all their names.
func functionNames(handler any, functions ...any) string {
	var names, qualifiers []string
	for _, function := range functions {
		f := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
		if f == nil {
			continue
		}
		name := f.Name()
		qualifier := name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			qualifier = name[:dot]
		}
		names = append(names, name)
		if !slices.Contains(qualifiers, qualifier) {
			qualifiers = append(qualifiers, qualifier)
		}
	}
	switch len(qualifiers) {
	case 0:
		return fmt.Sprintf("%T", handler)
	case 1:
		return qualifiers[0]
	default:
		return strings.Join(names, "+")
	}
}
