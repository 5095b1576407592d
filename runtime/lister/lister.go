// Package lister reads the objects of one resource out of an informer's
// indexer. Generated listers and factories are declarations over it.
//
// Any cache.Indexer will do. Of one that is backed by a store of ours with keys of
// type [cache.ObjectName] and objects that are any, as those of generated, dynamic
// and metadata informers are, the store is read: a look-up builds no key, a list
// sees one snapshot and delays nobody, and a list of a namespace costs what is in
// the namespace if there is an index for it. A selector that asks for values of a
// label costs what has these values if the store has a [store.LabelIndex] for the
// label, see informer.IndexLabels. Without one, lists of all namespaces, or of one
// that there is an index for, leave summaries of the labels that they see, of one
// object in 32 each time: later ones look only at objects that may match, at those
// that were put since or have more than twelve labels, and at the last 255 at most.
// Other indexers, among them those of informers of a concrete type and of package
// cache, are asked through their interface.
//
// Beside generated listers, which are as in client-go, there are functions that
// take one, generic and read-only listers included: [ListByFields] finds objects
// by the values of fields, [WaitForVersion] waits until the lister shows a
// resourceVersion, and [WaitForOwnWrites] until it shows what was written through the
// clientset behind it.
//
// Listers return the objects that the indexer holds, not copies: they must not
// be changed.
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
// It only converts what is found by code that is compiled once for all types.
type ResourceIndexer[T runtime.Object] struct{ reader }

// Embedding is a struct that embeds a ResourceIndexer: generated code defines its
// listers by it.
type Embedding[T runtime.Object] struct{ ResourceIndexer[T] }

// New returns a ResourceIndexer for all namespaces, or for cluster-scoped
// objects. resource names the resource in errors. The indexer must hold nothing
// but T: other objects make List and Get panic.
func New[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) ResourceIndexer[T] {
	return ResourceIndexer[T]{reader{of: newSource(indexer, resource, false)}}
}

// NewNamespaced returns parent's ResourceIndexer for one namespace, or for all
// if the namespace is empty.
func NewNamespaced[T runtime.Object](parent ResourceIndexer[T], namespace string) ResourceIndexer[T] {
	parent.namespace = namespace
	return parent
}

// List returns the objects whose labels match the selector, in no particular
// order, and nil if there are none. It fails only for objects without metadata.
func (l ResourceIndexer[T]) List(selector labels.Selector) (ret []T, err error) {
	err = l.of.list(l.namespace, selector, func(n int) { ret = make([]T, 0, n) }, func(obj any) { ret = append(ret, obj.(T)) })
	return ret, err
}

// Get returns the object of that name. The error is NotFound if there is none.
// Without a namespace, the name may be a key: a namespace, a slash and a name.
func (l ResourceIndexer[T]) Get(name string) (T, error) {
	obj, err := l.of.get(l.namespace, name)
	if err != nil {
		return *new(T), err
	}
	return obj.(T), nil
}

// keyOf returns the key that client-go's string for namespace and name stands
// for.
func keyOf(namespace, name string) (key cache.ObjectName, ok bool) {
	if namespace == "" && strings.Contains(name, "/") {
		key, err := cache.ParseObjectName(name)
		// "/name" isn't the string of any key.
		return key, err == nil && key.Namespace != ""
	}
	return cache.ObjectName{Namespace: namespace, Name: name}, true
}
