package informer

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// IndexFunc computes the values under which an index has an object: none, one or
// several. It must be deterministic and safe for concurrent use, and must not call
// the informer.
type IndexFunc[T any] func(T) []string

// NoIndexError says that an informer, or a lister over it, has no index of a name.
type NoIndexError = store.NoIndexError

// IndexLabels indexes the objects of an informer by the values of labels, at any
// time before it has stopped. Its listers then answer selectors that ask for
// values of one of them at the cost of the result, without being told; what
// writes pay is about as much as for any index. A label that is indexed already
// is no error.
//
// It takes informers that generated constructors return. Of others it is an error,
// since nobody would read such indexes.
func IndexLabels(i cache.SharedInformer, labels ...string) error {
	s, ok := shell.As[interface{ indexLabels([]string) error }](i)
	if !ok {
		return fmt.Errorf("index the labels of %T: %w", i, unsupported(i))
	}
	if slices.Contains(labels, "") {
		return errors.New("index labels: one of them has no name, which no object's label has")
	}
	return s.indexLabels(labels)
}

// IndexField indexes the objects of an informer by the values of what is called
// a field, at any time before it has stopped: lister.ListByFields finds them by
// it. values returns none for an object that is not to be found.
func IndexField[T cache.Object](i cache.SharedInformer, field string, values IndexFunc[T]) error {
	core, ok := CoreOf[T](i)
	if !ok {
		return fmt.Errorf("index field %q of %T: %w", field, i, notOfType[T](i))
	}
	if field == "" {
		return errors.New("index a field: it has no name, give the one that selectors will ask for")
	}
	return core.AddIndexes(map[string]IndexFunc[T]{store.FieldIndex(field): values})
}

func (s *shared[K]) indexLabels(labels []string) error {
	if _, read := any(s.indexer).(store.Backed[cache.ObjectName]); !read {
		return fmt.Errorf("index the labels of %T: listers read no indexes of such informers", s)
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

// untypedIndexes has typed index functions take objects as any. Functions that are
// nil stay nil.
func untypedIndexes[T any](indexes map[string]IndexFunc[T]) map[string]store.IndexFunc {
	untyped := make(map[string]store.IndexFunc, len(indexes))
	for name, function := range indexes {
		if untyped[name] = nil; function != nil {
			untyped[name] = func(obj any) []string { return function(obj.(T)) }
		}
	}
	return untyped
}
