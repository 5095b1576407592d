package informer

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// IndexLabels indexes the objects of an informer by the values of labels, at any
// time before it has stopped. Its listers then answer selectors that ask for
// values of one of them at the cost of the result, without being told; what
// writes pay is about as much as for any index. A label that is indexed already
// is no error.
//
// It takes what generated constructors return, and others that listers read the
// indexes of: those that Share made with the key [cache.ObjectName] for objects
// that are known as any. Of all others it is an error, since nobody would read
// such indexes.
func IndexLabels(i cache.SharedInformer, labels ...string) error {
	indexable, ok := as[interface{ indexLabels([]string) error }](i)
	if !ok {
		return fmt.Errorf("index the labels of %T: %w", i, notOurs(i))
	}
	if slices.Contains(labels, "") {
		return errors.New("index labels: one of them has no name, which no object's label has")
	}
	return indexable.indexLabels(labels)
}

// IndexField indexes the objects of an informer by the values of what is called
// a field, at any time before it has stopped: lister.ListByFields finds them by
// it. values returns none for an object that is not to be found; it must be
// deterministic and safe for concurrent use.
func IndexField[T cache.Object](i cache.SharedInformer, field string, values func(T) []string) error {
	core, ok := Of[T](i)
	if !ok {
		return fmt.Errorf("index field %q of %T: %w", field, i, notOfType[T](i))
	}
	if field == "" {
		return errors.New("index a field: it has no name, give the one that selectors will ask for")
	}
	return core.AddIndexes(map[string]store.IndexFunc[T]{store.FieldIndex(field): values})
}

func (s *Shared[K, T]) indexLabels(labels []string) error {
	if _, read := any(s.indexer).(store.Backed[cache.ObjectName, any]); !read {
		return fmt.Errorf("index the labels of %T: listers read no indexes of such informers", s)
	}
	return s.core.beforeStop(func() error {
		missing := map[string]store.IndexFunc[T]{}
		for _, label := range labels {
			if name := store.LabelIndex(label); !s.core.store.HasIndex(name) {
				missing[name] = store.ByLabel[T](label)
			}
		}
		return s.core.store.AddIndexes(missing)
	})
}
