package informer

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// Core is the [Informer] behind an informer of objects of type T that generated
// code returned. It knows them as any: the methods of Core are typed, those of
// Informer give nothing but objects of type T, and report whatever else a
// transform makes. The store alone takes what it is given: an object of another
// type that is written to Store makes those who read it panic.
type Core[T cache.Object] struct {
	*Informer[cache.ObjectName, any]
}

// Of returns the informer behind an informer of objects of type T that generated
// code returned, for all that it offers beyond client-go's interface. ok is
// false if it is of another make, or of another type.
func Of[T cache.Object](i cache.SharedInformer) (core Core[T], ok bool) {
	shared, ok := as[*Shared[cache.ObjectName, any]](i)
	if !ok || shared.keys.Type != reflect.TypeFor[T]() {
		return core, false
	}
	return Core[T]{shared.core}, true
}

// List returns every object, in no particular order.
func (c Core[T]) List() []T {
	list, _ := unboxed[T](c.Store().List(), nil)
	return list
}

// Events is [Informer.Events].
func (c Core[T]) Events(ctx context.Context) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		for e := range c.Informer.Events(ctx) {
			// There is no old object but of updates, and none of Synced.
			object, _ := e.Object.(T)
			old, _ := e.Old.(T)
			if !yield(Event[T]{Type: e.Type, Object: object, Old: old, Initial: e.Initial, Missed: e.Missed}) {
				return
			}
		}
	}
}

// AddHandler is [Informer.AddHandler].
func (c Core[T]) AddHandler(handler Handler[cache.ObjectName, T], options HandlerOptions) (*Registration[cache.ObjectName, any], error) {
	if options.Name == "" {
		options.Name = fmt.Sprintf("%T", handler)
	}
	return c.Informer.AddHandler(converting[T]{handler}, options)
}

// AddIndexes is [Informer.AddIndexes].
func (c Core[T]) AddIndexes(indexes map[string]store.IndexFunc[T]) error {
	untyped := make(map[string]store.IndexFunc[any], len(indexes))
	for name, function := range indexes {
		if untyped[name] = nil; function != nil {
			untyped[name] = func(obj any) []string { return function(obj.(T)) }
		}
	}
	return c.Informer.AddIndexes(untyped)
}

// SetTransform is [Informer.SetTransform].
func (c Core[T]) SetTransform(transform func(T) (T, error)) error {
	if transform == nil {
		return c.Informer.SetTransform(nil)
	}
	return c.Informer.SetTransform(func(obj any) (any, error) { return transform(obj.(T)) })
}

// converting is a typed handler of an informer that knows its objects as any.
type converting[T any] struct{ handler Handler[cache.ObjectName, T] }

func (c converting[T]) OnAdd(obj any, isInInitialList bool) {
	c.handler.OnAdd(obj.(T), isInInitialList)
}
func (c converting[T]) OnUpdate(oldObj, newObj any) { c.handler.OnUpdate(oldObj.(T), newObj.(T)) }

func (c converting[T]) OnDelete(gone Deleted[cache.ObjectName, any]) {
	object, _ := gone.Object.(T)
	c.handler.OnDelete(Deleted[cache.ObjectName, T]{Object: object, Missed: gone.Missed, Key: gone.Key})
}
