package engine

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// AddIndexes is the method of [informer.Typed].
func (s *shared[K]) AddIndexes(functions map[string]func(any) []string) error {
	return s.core.beforeStop(func() error { return s.core.store.AddIndexes(functions) })
}

// IndexField is [informer.IndexField].
func (s *shared[K]) IndexField(field string, values func(any) []string) error {
	return s.AddIndexes(map[string]func(any) []string{store.FieldIndex(field): values})
}

// IndexLabels is [informer.IndexLabels].
func (s *shared[K]) IndexLabels(labels []string) error {
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
