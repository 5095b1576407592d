package unwrap

import (
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// ReleaseHandler is a handler that is notified of objects that leave an informer of a part.
type ReleaseHandler[T any] interface{ OnRelease(obj T) }

// TypedHandler converts objects from any for a typed handler. It panics at an object of
// another type.
type TypedHandler[T cache.Object] struct {
	Handler cache.TypedResourceEventHandler[T]
}

// Typed returns the typed handler.
func (h *TypedHandler[T]) Typed() any { return h.Handler }

func (h *TypedHandler[T]) OnAdd(obj any, isInInitialList bool) {
	h.Handler.OnAdd(obj.(T), isInInitialList)
}

func (h *TypedHandler[T]) OnUpdate(oldObj, newObj any) {
	h.Handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (h *TypedHandler[T]) OnDelete(obj any) {
	var deleted cache.DeletedObject[T]
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj, deleted.FinalStateUnknown = tombstone.Obj, new(tombstone)
	}
	if obj != nil || deleted.FinalStateUnknown == nil {
		deleted.OptionalObj = obj.(T)
	}
	h.Handler.OnDelete(deleted)
}

func (h *TypedHandler[T]) OnRelease(obj any) {
	if h, ok := h.Handler.(ReleaseHandler[T]); ok {
		h.OnRelease(obj.(T))
	}
}

// HandlerName names a handler as client-go does: by its functions if it is one of
// client-go's sets of functions, typed or not, else by its type. A [TypedHandler] and the wrapper of
// client-go's own typed informers are skipped, and so is one that has a method Unwrap.
func HandlerName(handler any) string {
	for {
		switch outer := handler.(type) {
		case interface{ Typed() any }:
			handler = outer.Typed()
		case interface {
			Unwrap() cache.ResourceEventHandler
		}:
			handler = outer.Unwrap()
		default:
			return nameOfHandler(reflect.ValueOf(handler))
		}
	}
}

func nameOfHandler(handler reflect.Value) string {
	v := reflect.Indirect(handler)
	if !v.IsValid() || v.Type().PkgPath() != reflect.TypeFor[cache.ResourceEventHandlerFuncs]().PkgPath() {
		return typeName(handler)
	}
	switch name, _, _ := strings.Cut(v.Type().Name(), "["); name {
	case "ResourceEventHandlerFuncs", "TypedResourceEventHandlerFuncs":
		return functionNames(
			handler, v.FieldByName("AddFunc"), v.FieldByName("UpdateFunc"), v.FieldByName("DeleteFunc"))
	case "typedResourceEventHandler":
		if inside := v.FieldByName("handler"); inside.IsValid() {
			return nameOfHandler(inside.Elem())
		}
	}
	return typeName(handler)
}

// typeName returns the name of a handler's type, or of the type that it points to,
// with the path of the package. A type without a name is printed as %T prints it.
func typeName(handler reflect.Value) string {
	if !handler.IsValid() {
		return fmt.Sprintf("%T", nil)
	}
	t := handler.Type()
	if t.Kind() == reflect.Pointer && !handler.IsNil() {
		t = t.Elem()
	}
	name := t.Name()
	if path := t.PkgPath(); path != "" {
		name = path + "." + name
	}
	if name == "" {
		return handler.Type().String()
	}
	return name
}

// functionNames returns the function or type in which all the functions are declared, or
// all their names if there is no single one.
func functionNames(handler reflect.Value, functions ...reflect.Value) string {
	var names, qualifiers []string
	for _, function := range functions {
		f := runtime.FuncForPC(function.Pointer())
		if f == nil {
			continue
		}
		name := f.Name()
		qualifier := strings.TrimSuffix(name, path.Ext(name))
		names = append(names, name)
		if !slices.Contains(qualifiers, qualifier) {
			qualifiers = append(qualifiers, qualifier)
		}
	}
	switch len(qualifiers) {
	case 0:
		return handler.Type().String()
	case 1:
		return qualifiers[0]
	default:
		return strings.Join(names, "+")
	}
}
