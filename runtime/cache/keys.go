package cache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// MetaNamespaceKeyFunc returns the key of an API object: namespace/name, or only the name if the object is
// cluster-scoped. An [ExplicitKey] is its own key. Neither part may contain a slash.
func MetaNamespaceKeyFunc(obj any) (string, error) { return cache.MetaNamespaceKeyFunc(obj) }

// DeletionHandlingMetaNamespaceKeyFunc is [MetaNamespaceKeyFunc] that also takes a
// [DeletedFinalStateUnknown].
func DeletionHandlingMetaNamespaceKeyFunc(obj any) (string, error) {
	return cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
}

// ObjectToName returns the namespace and name of an API object.
func ObjectToName(obj any) (ObjectName, error) { return cache.ObjectToName(obj) }

// DeletionHandlingObjectToName is [ObjectToName] that also takes a [DeletedFinalStateUnknown].
func DeletionHandlingObjectToName(obj any) (ObjectName, error) {
	return cache.DeletionHandlingObjectToName(obj)
}

// MetaObjectToName returns the namespace and name of an object.
func MetaObjectToName(obj metav1.Object) ObjectName { return cache.MetaObjectToName(obj) }

// NewObjectName returns an ObjectName. The namespace of cluster-scoped objects is "".
func NewObjectName(namespace, name string) ObjectName { return cache.NewObjectName(namespace, name) }

// NamespacedNameAsObjectName converts a NamespacedName.
func NamespacedNameAsObjectName(name types.NamespacedName) ObjectName {
	return cache.NamespacedNameAsObjectName(name)
}

// ParseObjectName is the inverse of [ObjectName.String].
func ParseObjectName(key string) (ObjectName, error) { return cache.ParseObjectName(key) }

// SplitMetaNamespaceKey is the inverse of [MetaNamespaceKeyFunc]. It returns an error for more than one
// slash.
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	return cache.SplitMetaNamespaceKey(key)
}

// MetaNamespaceIndexFunc indexes API objects by namespace.
func MetaNamespaceIndexFunc(obj any) ([]string, error) { return cache.MetaNamespaceIndexFunc(obj) }

// IndexFuncToKeyFuncAdapter returns a key function whose key is the value of an index function. It returns
// an error for an object with several values, or with none.
func IndexFuncToKeyFuncAdapter(indexFunc IndexFunc) KeyFunc {
	return cache.IndexFuncToKeyFuncAdapter(indexFunc)
}

// TypedIndexerFuncToIndexerFunc returns a typed index function as an untyped one, which panics for objects
// of another type than T.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return cache.TypedIndexerFuncToIndexerFunc(indexer)
}

// TypedIndexersToIndexers returns typed index functions as untyped ones, which panic for objects of another
// type than T.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	return cache.TypedIndexersToIndexers(indexers)
}
