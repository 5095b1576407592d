package informer

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// TypedShared shows an informer as client-go's [cache.TypedSharedIndexInformer]:
// it converts objects to T on their way to typed handlers and out of the typed
// indexer, and does nothing else. Generated constructors return it, over an
// informer that admits objects of type T only. What this package's functions do
// with an informer they do with the one inside.
type TypedShared[T cache.Object] struct{ cache.SharedIndexInformer }

// Typed shows an informer as one for objects of type T. If it is one already
// it is returned as it is. Otherwise objects of other types make handlers and
// index functions panic.
func Typed[T cache.Object](i cache.SharedIndexInformer) cache.TypedSharedIndexInformer[T] {
	if typed, ok := i.(cache.TypedSharedIndexInformer[T]); ok {
		return typed
	}
	return &TypedShared[T]{i}
}

// AddTypedEventHandler registers a typed handler, with at most one set of
// options.
func (s *TypedShared[T]) AddTypedEventHandler(handler cache.TypedResourceEventHandler[T], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return addTyped(s.SharedIndexInformer, &asserting[T]{handler}, handler, options)
}

// AddTypedIndexers adds indexes at any time before the informer has stopped.
func (s *TypedShared[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return s.AddIndexers(untypedIndexers(indexers))
}

// GetTypedIndexer returns the informer's cache.
func (s *TypedShared[T]) GetTypedIndexer() cache.TypedIndexer[T] {
	return &typedIndexer[T]{s.GetIndexer()}
}

func (s *TypedShared[T]) inside() cache.SharedInformer { return s.SharedIndexInformer }

// addTyped registers what converts objects for a typed handler, under that one's
// name.
func addTyped(i cache.SharedIndexInformer, converting cache.ResourceEventHandler, typed any, options []cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	var o cache.HandlerOptions
	switch len(options) {
	case 0:
	case 1:
		o = options[0]
	default:
		return nil, fmt.Errorf("at most one HandlerOptions may be passed, got %d", len(options))
	}
	if ours, ok := as[adder](i); ok {
		return ours.AddHandler(converting, HandlerOptions{Name: typedHandlerName(typed), Logger: o.Logger, ResyncPeriod: o.ResyncPeriod})
	}
	return i.AddEventHandlerWithOptions(converting, o)
}

// adder is what takes handlers with the options of this package.
type adder interface {
	AddHandler(cache.ResourceEventHandler, HandlerOptions) (cache.ResourceEventHandlerRegistration, error)
}

// shell is what shows another informer as typed.
type shell interface{ inside() cache.SharedInformer }

// as finds out whether an informer, or the one inside of a typed one, is an I.
func as[I any](i cache.SharedInformer) (found I, ok bool) {
	found, ok = innermost(i).(I)
	return found, ok
}

// Same says whether two are one informer, be it seen as typed or not. Informers
// of types that can't be compared are never the same.
func Same(a, b cache.SharedInformer) bool {
	a, b = innermost(a), innermost(b)
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && a == b
}

func innermost(i cache.SharedInformer) cache.SharedInformer {
	for {
		typed, ok := i.(shell)
		if !ok {
			return i
		}
		i = typed.inside()
	}
}

// typedIndexer is an indexer, seen as typed.
type typedIndexer[T any] struct{ cache.Indexer }

// Untyped returns the indexer itself, for those who look for what it can do
// beside.
func (x *typedIndexer[T]) Untyped() cache.Indexer { return x.Indexer }

func (x *typedIndexer[T]) TypedIndex(name string, obj T) ([]T, error) {
	return unboxed[T](x.Index(name, obj))
}

func (x *typedIndexer[T]) ByTypedIndex(name, value string) ([]T, error) {
	return unboxed[T](x.ByIndex(name, value))
}

func (x *typedIndexer[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return x.AddIndexers(untypedIndexers(indexers))
}

func unboxed[T any](objects []any, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed, nil
}
