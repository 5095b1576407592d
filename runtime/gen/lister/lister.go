// Package lister is for generated listers, which are declarations on top of it. Programs don't import it:
// package runtime/lister is for them. It reads the objects of one resource from an informer's indexer.
//
// # What it promises
//
// Listers return the same objects and errors as client-go's, for any cache.Indexer. All
// are safe for concurrent use. They return the objects that the indexer holds, not
// copies: callers must not change them, including their labels.
//
// The indexers of generated, dynamic and metadata informers keep their objects in a
// store of this runtime. Listers read that store:
//
//   - Get allocates nothing.
//   - List reads a consistent state of the store, and delays neither writers nor other readers.
//   - The cost of a list of a namespace grows with the objects of the namespace, if the
//     cache has an index by namespace.
//   - The cost of a selector that requires values of a label grows with the objects that have them, if the
//     label is indexed, see informer.IndexLabels. Of several such labels, the rarest determines the cost.
//   - Without an index of the label, a list checks all objects, or all of an indexed namespace. One list in
//     32 stores summaries of the labels that it reads. Later lists check only objects that may match. Among
//     these are a few percent that don't match, objects that were put since or have more than twelve labels,
//     and at most 255 others, which have no summaries yet.
//
// Other indexers, among them those of package cache, are read through their interface.
package lister

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// ResourceIndexer lists and gets the objects of a resource, of all namespaces
// or of one. It is a small value and safe for concurrent use.
//
// It only converts the results of code that is compiled once for all types.
type ResourceIndexer[T runtime.Object] struct{ reader }

// Embedding embeds a ResourceIndexer. Generated code defines its lister types from it; they have
// the methods of the ResourceIndexer, not those of Embedding itself. factory.For, which needs no
// generated code, returns it as the lister.
type Embedding[T runtime.Object] struct{ ResourceIndexer[T] }

// ByNamespace returns the lister of one namespace, or of all if it is empty.
func (l Embedding[T]) ByNamespace(namespace string) Embedding[T] {
	return Embedding[T]{NewNamespaced(l.ResourceIndexer, namespace)}
}

// New returns a ResourceIndexer for all namespaces, or for cluster-scoped objects. resource names the
// resource in errors. The indexer must hold objects of type T only: List and Get panic at others.
func New[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) ResourceIndexer[T] {
	return ResourceIndexer[T]{reader{of: newSource(indexer, resource)}}
}

// NewNamespaced returns parent's ResourceIndexer for one namespace, or for all
// if the namespace is empty.
func NewNamespaced[T runtime.Object](parent ResourceIndexer[T], namespace string) ResourceIndexer[T] {
	parent.namespace = namespace
	return parent
}

// List returns the objects whose labels match the selector, in no particular order, or nil if there are none.
// It fails only for objects without metadata.
func (l ResourceIndexer[T]) List(selector labels.Selector) (ret []T, err error) {
	err = l.of.list(l.namespace, selector,
		func(n int) { ret = make([]T, 0, n) },
		func(obj any) { ret = append(ret, obj.(T)) })
	return ret, err
}

// Get returns the object with that name, or a NotFound error. Without a namespace, the name may be a key: a
// namespace, a slash and a name.
func (l ResourceIndexer[T]) Get(name string) (T, error) {
	obj, err := l.of.get(l.namespace, name)
	if err != nil {
		return *new(T), err
	}
	return obj.(T), nil
}

// keyOf returns the key of an object. As in client-go, name may be a whole key if
// namespace is empty.
func keyOf(namespace, name string) (key cache.ObjectName, ok bool) {
	if namespace == "" && strings.Contains(name, "/") {
		key, err := cache.ParseObjectName(name)
		// "/name" isn't the string of any key.
		return key, err == nil && key.Namespace != ""
	}
	return cache.ObjectName{Namespace: namespace, Name: name}, true
}
