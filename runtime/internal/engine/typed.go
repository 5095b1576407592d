package engine

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// typedShared adapts an informer to client-go's [cache.TypedSharedIndexInformer]: it
// converts objects to T for typed handlers and reads of the typed indexer, and does
// nothing else. Generated constructors return it, over an informer of objects
// of type T. The functions of package informer work on the informer inside.
type typedShared[T cache.Object] struct{ cache.SharedIndexInformer }

// Typed returns i as an informer of objects of type T: i itself if it is one, else an adapter. With the
// adapter, typed handlers, index functions and reads panic at an object of another type.
func Typed[T cache.Object](i cache.SharedIndexInformer) cache.TypedSharedIndexInformer[T] {
	if typed, ok := i.(cache.TypedSharedIndexInformer[T]); ok {
		return typed
	}
	return &typedShared[T]{i}
}

// AddTypedEventHandler adds a typed handler, with at most one set of options. It returns an
// error for a nil handler.
func (s *typedShared[T]) AddTypedEventHandler(
	handler cache.TypedResourceEventHandler[T], options ...cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return addTyped(s.SharedIndexInformer, &unwrap.TypedHandler[T]{Handler: handler}, handler, options)
}

// AddTypedIndexers adds indexes at any time before the informer has stopped.
func (s *typedShared[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return s.AddIndexers(untypedIndexers(indexers))
}

// GetTypedIndexer returns the informer's cache.
func (s *typedShared[T]) GetTypedIndexer() cache.TypedIndexer[T] {
	return &typedIndexer[T]{s.GetIndexer()}
}

// Untyped returns the informer inside.
func (s *typedShared[T]) Untyped() cache.SharedInformer { return s.SharedIndexInformer }

// addTyped registers an unwrap.TypedHandler. It has no type parameter, so it is compiled once.
func addTyped(
	i cache.SharedIndexInformer, converting cache.ResourceEventHandler, typed any,
	options []cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	if typed == nil {
		return nil, fmt.Errorf("add a typed handler: %w", errNilHandler)
	}
	var o cache.HandlerOptions
	switch len(options) {
	case 0:
	case 1:
		o = options[0]
	default:
		return nil, fmt.Errorf("at most one HandlerOptions may be passed, got %d", len(options))
	}
	return i.AddEventHandlerWithOptions(converting, o)
}

// typedIndexer adapts an indexer to client-go's [cache.TypedIndexer].
type typedIndexer[T any] struct{ cache.Indexer }

// Untyped returns the indexer inside, which may implement more interfaces.
func (x *typedIndexer[T]) Untyped() cache.Indexer { return x.Indexer }

func (x *typedIndexer[T]) TypedIndex(name string, obj T) ([]T, error) {
	return typedObjects[T](x.Index(name, obj))
}

func (x *typedIndexer[T]) ByTypedIndex(name, value string) ([]T, error) {
	return typedObjects[T](x.ByIndex(name, value))
}

func (x *typedIndexer[T]) AddTypedIndexers(indexers cache.TypedIndexers[T]) error {
	return x.AddIndexers(untypedIndexers(indexers))
}

func typedObjects[T any](objects []any, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	typed := make([]T, len(objects))
	for i, obj := range objects {
		typed[i] = obj.(T)
	}
	return typed, nil
}

// untypedIndexers is client-go's TypedIndexersToIndexers, but keeps nil functions nil, so
// that AddIndexers refuses them.
func untypedIndexers[T any](indexers cache.TypedIndexers[T]) cache.Indexers {
	untyped := cache.TypedIndexersToIndexers(indexers)
	for name, function := range indexers {
		if function == nil {
			untyped[name] = nil
		}
	}
	return untyped
}
