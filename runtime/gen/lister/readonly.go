package lister

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// ReadOnly lists views of type V in place of objects. Objects are shared and must not be changed; a view
// gives no way to change its object. A ReadOnly is a small value and safe for concurrent use.
type ReadOnly[T runtime.Object, V any] struct {
	reader
	view func(T) V
}

// NewReadOnly returns a lister that applies view to the objects in indexer. For the rest see [New].
func NewReadOnly[T runtime.Object, V any](
	indexer cache.Indexer, resource schema.GroupResource, view func(T) V,
) ReadOnly[T, V] {
	return ReadOnly[T, V]{reader{of: newSource(indexer, resource)}, view}
}

// List returns the objects whose labels match the selector, in no particular
// order.
func (l ReadOnly[T, V]) List(selector labels.Selector) ([]V, error) {
	objects, err := ResourceIndexer[T]{l.reader}.List(selector)
	if err != nil {
		return nil, err
	}
	views := make([]V, len(objects))
	for i, object := range objects {
		views[i] = l.view(object)
	}
	return views, nil
}

// FindByFields is lister.ListByFields without the type. It returns views.
func (l ReadOnly[T, V]) FindByFields(selector fields.Selector, matchLabels labels.Selector) ([]any, error) {
	found, err := l.reader.FindByFields(selector, matchLabels)
	for n, obj := range found {
		found[n] = l.view(obj.(T))
	}
	return found, err
}

// Get returns the object with that name, or a NotFound error. Namespaced objects are found only through
// [ReadOnly.ByNamespace].
func (l ReadOnly[T, V]) Get(name string) (v V, err error) {
	object, err := ResourceIndexer[T]{l.reader}.Get(name)
	if err != nil {
		return v, err
	}
	return l.view(object), nil
}

// ByNamespace returns a lister of one namespace, or of all if it is empty.
func (l ReadOnly[T, V]) ByNamespace(namespace string) ReadOnly[T, V] {
	l.namespace = namespace
	return l
}
