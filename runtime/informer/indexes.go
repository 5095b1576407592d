package informer

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// IndexLabels indexes the objects of an informer by the values of labels, at any time before it has stopped.
// Listers use such an index automatically: for a selector that requires values of an indexed label, the cost
// then depends only on the size of the result. The index slows down writes about as much as any other index.
// A label that is indexed already is not an error. IndexLabels is safe for concurrent use.
//
// It returns an error if i was not made by a generated constructor, since no lister would use the indexes.
func IndexLabels(i cache.SharedInformer, labels ...string) error {
	s, ok := unwrap.As[interface{ IndexLabels([]string) error }](i)
	if !ok {
		return fmt.Errorf("index the labels of %T: %w", i, unsupported(i))
	}
	if slices.Contains(labels, "") {
		return errors.New("index labels: the name of a label is empty")
	}
	return s.IndexLabels(labels)
}

// IndexField adds an index called field to a generated informer, at any time before it has stopped. values
// computes the values of an object, by which lister.ListByFields finds it; an object without any isn't in the
// index. values must be deterministic and safe for concurrent use. It may read the cache, but must not write
// to it, or add handlers or indexes. IndexField is safe for concurrent use.
func IndexField[T cache.Object](i cache.SharedInformer, field string, values func(T) []string) error {
	core, ok := Of[T](i)
	if !ok {
		return fmt.Errorf("index field %q of %T: %w", field, i, notOfType[T](i))
	}
	if field == "" {
		return errors.New("index a field: its name is empty, pass the name that field selectors will use")
	}
	return core.core.IndexField(field, untypedIndex(values))
}

// untypedIndex converts a typed index function to one of any. It keeps a nil function nil, so that the engine
// refuses it.
func untypedIndex[T any](values func(T) []string) func(any) []string {
	if values == nil {
		return nil
	}
	return func(obj any) []string { return values(obj.(T)) }
}
