package informer

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// IndexLabels indexes the objects of an informer by the values of labels, at any time before it has stopped.
// Listers use such an index automatically: for a selector that requires values of an indexed label, the cost
// then depends only on the size of the result. The index slows down writes about as much as any other index.
// A label that is indexed already is not an error. IndexLabels is safe for concurrent use.
//
// It returns an error if i was not made by a generated constructor, since no lister would use the indexes.
func IndexLabels(i cache.SharedInformer, labels ...string) error {
	s, ok := shell.As[interface{ indexLabels([]string) error }](i)
	if !ok {
		return fmt.Errorf("index the labels of %T: %w", i, unsupported(i))
	}
	if slices.Contains(labels, "") {
		return errors.New("index labels: the name of a label is empty")
	}
	return s.indexLabels(labels)
}

// IndexField adds an index called field to a generated informer, at any time before it has stopped. values
// computes the values of an object, by which lister.ListByFields finds it; an object without any isn't in the
// index. values must be deterministic and safe for concurrent use. It may read the cache, but must not write
// to it, or add handlers or indexes. IndexField is safe for concurrent use.
func IndexField[T cache.Object](i cache.SharedInformer, field string, values func(T) []string) error {
	core, ok := CoreOf[T](i)
	if !ok {
		return fmt.Errorf("index field %q of %T: %w", field, i, notOfType[T](i))
	}
	if field == "" {
		return errors.New("index a field: its name is empty, pass the name that field selectors will use")
	}
	return core.AddIndexes(map[string]func(T) []string{store.FieldIndex(field): values})
}

func (s *shared[K]) indexLabels(labels []string) error {
	if _, read := any(s.indexer).(store.Backed[cache.ObjectName]); !read {
		return fmt.Errorf("index the labels of %T: listers don't read the indexes of such informers", s)
	}
	return s.core.beforeStop(func() error {
		missing := map[string]store.IndexFunc{}
		for _, label := range labels {
			if name := store.LabelIndex(label); !s.core.store.HasIndex(name) {
				missing[name] = store.ByLabel(label)
			}
		}
		return s.core.store.AddIndexes(missing)
	})
}

// untypedIndexes converts typed index functions to functions of any. It keeps nil
// functions nil, so that AddIndexes refuses them.
func untypedIndexes[T any](indexes map[string]func(T) []string) map[string]store.IndexFunc {
	untyped := make(map[string]store.IndexFunc, len(indexes))
	for name, function := range indexes {
		if untyped[name] = nil; function != nil {
			untyped[name] = func(obj any) []string { return function(obj.(T)) }
		}
	}
	return untyped
}
