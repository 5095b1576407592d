package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// TypedShared shows an informer of API objects as client-go's
// [cache.TypedSharedIndexInformer]. Typed handlers and typed reads of its
// indexer go to the typed core directly.
type TypedShared[T cache.Object] struct {
	*Shared[cache.ObjectName, T]
}

// AddTypedEventHandler registers a typed handler, with at most one set of
// options.
func (s *TypedShared[T]) AddTypedEventHandler(handler cache.TypedResourceEventHandler[T], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	o, err := atMostOne(options)
	if err != nil {
		return nil, err
	}
	return s.add(typed[T]{handler}, typedHandlerName(handler), o)
}

// AddTypedIndexers adds indexes at any time before the informer has stopped.
func (s *TypedShared[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return s.core.beforeStop(func() error { return s.indexer.AddTypedIndexers(indexers) })
}

// GetTypedIndexer returns the informer's cache.
func (s *TypedShared[T]) GetTypedIndexer() cache.TypedIndexer[T] { return s.indexer }

// Typed shows an informer as one for objects of type T. If it is one already
// it is returned as it is. Otherwise objects of other types make handlers and
// index functions panic.
func Typed[T cache.Object](i cache.SharedIndexInformer) cache.TypedSharedIndexInformer[T] {
	if typed, ok := i.(cache.TypedSharedIndexInformer[T]); ok {
		return typed
	}
	return foreign[T]{i}
}

// foreign is an informer of another make, seen as typed.
type foreign[T cache.Object] struct{ cache.SharedIndexInformer }

func (f foreign[T]) AddTypedEventHandler(handler cache.TypedResourceEventHandler[T], options ...cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	o, err := atMostOne(options)
	if err != nil {
		return nil, err
	}
	return f.AddEventHandlerWithOptions(asserting[T]{handler}, o)
}

func (f foreign[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return f.AddIndexers(untypedIndexers(indexers))
}

func (f foreign[T]) GetTypedIndexer() cache.TypedIndexer[T] {
	return foreignIndexer[T]{f.GetIndexer()}
}

// foreignIndexer is an indexer of another make, seen as typed.
type foreignIndexer[T any] struct{ cache.Indexer }

func (f foreignIndexer[T]) TypedIndex(name string, obj T) ([]T, error) {
	return unboxed[T](f.Index(name, obj))
}

func (f foreignIndexer[T]) ByTypedIndex(name, value string) ([]T, error) {
	return unboxed[T](f.ByIndex(name, value))
}

func (f foreignIndexer[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return f.AddIndexers(untypedIndexers(indexers))
}

func atMostOne(options []cache.HandlerOptions) (cache.HandlerOptions, error) {
	switch len(options) {
	case 0:
		return cache.HandlerOptions{}, nil
	case 1:
		return options[0], nil
	default:
		return cache.HandlerOptions{}, fmt.Errorf("at most one HandlerOptions may be passed, got %d", len(options))
	}
}

func untypedIndexers[T any](indexers cache.TypedIndexers[T]) cache.Indexers {
	untyped := make(cache.Indexers, len(indexers))
	for name, function := range indexers {
		untyped[name] = func(obj any) ([]string, error) { return function(obj.(T)) }
	}
	return untyped
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
