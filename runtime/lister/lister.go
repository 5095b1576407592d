// Package lister reads the objects of one resource out of an informer's
// indexer. Generated listers and factories are declarations over it.
//
// Any cache.Indexer will do. One that is backed by a store of ours, as those of
// our informers are, is read without going through any: a look-up builds no
// key, a list sees one snapshot and delays nobody, and a list of a namespace
// costs what is in the namespace if there is an index for it. A selector that
// asks for values of a label costs what has these values if the store has a
// [store.LabelIndex] for the label, see informer.IndexLabels.
//
// Beside generated listers, which are as in client-go, there are functions that
// take one: [ListByFields] finds objects by the values of fields, [WaitFor] waits
// until the lister shows a resourceVersion, and [Fresh] until it shows what was
// written through the clientset behind it.
//
// Listers return the objects that the indexer holds, not copies: they must not
// be changed.
package lister

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/store"
)

// ResourceIndexer lists and gets the objects of a resource, of all namespaces
// or of one. It is a small value and safe for concurrent use.
type ResourceIndexer[T runtime.Object] struct {
	indexer cache.Indexer
	// store is the one behind indexer, or nil. Its objects are known to be
	// keyed by their namespace and name.
	store     *store.Store[cache.ObjectName, T]
	resource  schema.GroupResource
	namespace string // empty for all namespaces and for cluster-scoped objects
}

// Embedding is a struct that embeds a ResourceIndexer: generated code defines its
// listers by it.
type Embedding[T runtime.Object] struct{ ResourceIndexer[T] }

// New returns a ResourceIndexer for all namespaces, or for cluster-scoped
// objects. resource names the resource in errors. The indexer must hold nothing
// but T.
func New[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) ResourceIndexer[T] {
	l := ResourceIndexer[T]{indexer: indexer, resource: resource}
	if backed, ok := indexer.(store.Backed[cache.ObjectName, T]); ok {
		l.store = backed.Store()
	}
	return l
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
	switch {
	case labels.MatchesNothing(selector):
		return nil, nil
	case l.store != nil:
		return l.listStore(selector)
	default:
		err = list(l.indexer, l.namespace, selector, func(obj any) { ret = append(ret, obj.(T)) })
		return ret, err
	}
}

func (l ResourceIndexer[T]) listStore(selector labels.Selector) ([]T, error) {
	if found, ok := l.narrowed(selector); ok {
		return matching(slices.Values(found), selector)
	}
	if l.namespace == "" {
		snapshot := l.store.Snapshot()
		if selector.Empty() {
			return nilIfEmpty(snapshot.List()), nil
		}
		return matching(snapshot.Values(), selector)
	}
	found, err := l.store.ByIndex(cache.NamespaceIndex, l.namespace)
	if err != nil {
		// There is no such index. The namespace is in the keys.
		for key, obj := range l.store.All() {
			if key.Namespace == l.namespace {
				found = append(found, obj)
			}
		}
	}
	if selector.Empty() {
		return nilIfEmpty(found), nil
	}
	return matching(slices.Values(found), selector)
}

func matching[T any](objects iter.Seq[T], selector labels.Selector) (list []T, err error) {
	matcher := newMatcher(selector)
	for obj := range objects {
		m, err := meta.Accessor(obj)
		if err != nil {
			return list, err
		}
		if matcher.matches(m.GetLabels()) {
			list = append(list, obj)
		}
	}
	return list, nil
}

func nilIfEmpty[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Get returns the object of that name. The error is NotFound if there is none.
// Without a namespace, the name may be a key: a namespace, a slash and a name.
func (l ResourceIndexer[T]) Get(name string) (T, error) {
	if l.store != nil {
		if key, ok := keyOf(l.namespace, name); ok {
			if obj, ok := l.store.Get(key); ok {
				return obj, nil
			}
		}
		return *new(T), errors.NewNotFound(l.resource, name)
	}
	key := name
	if l.namespace != "" {
		key = l.namespace + "/" + name
	}
	obj, err := get(l.indexer, l.resource, key, name)
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
