package cache

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MetaNamespaceKeyFunc returns the key of an API object: namespace/name, or only the name if the object is
// cluster-scoped. An [ExplicitKey] is its own key. Neither part may contain a slash.
func MetaNamespaceKeyFunc(obj any) (string, error) {
	if key, ok := obj.(ExplicitKey); ok {
		return string(key), nil
	}
	name, err := ObjectToName(obj)
	if err != nil {
		return "", err
	}
	return name.String(), nil
}

// DeletionHandlingMetaNamespaceKeyFunc is [MetaNamespaceKeyFunc] that also takes a
// [DeletedFinalStateUnknown].
func DeletionHandlingMetaNamespaceKeyFunc(obj any) (string, error) {
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return MetaNamespaceKeyFunc(obj)
}

// ObjectToName returns the namespace and name of an API object.
func ObjectToName(obj any) (ObjectName, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ObjectName{}, fmt.Errorf("object has no meta: %w", err)
	}
	return MetaObjectToName(m), nil
}

// DeletionHandlingObjectToName is [ObjectToName] that also takes a [DeletedFinalStateUnknown].
func DeletionHandlingObjectToName(obj any) (ObjectName, error) {
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return ParseObjectName(tombstone.Key)
	}
	return ObjectToName(obj)
}

// MetaObjectToName returns the namespace and name of an object.
func MetaObjectToName(obj metav1.Object) ObjectName {
	return ObjectName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// NewObjectName returns an ObjectName. The namespace of cluster-scoped objects is "".
func NewObjectName(namespace, name string) ObjectName {
	return ObjectName{Namespace: namespace, Name: name}
}

// NamespacedNameAsObjectName converts a NamespacedName.
func NamespacedNameAsObjectName(name types.NamespacedName) ObjectName {
	return ObjectName{Namespace: name.Namespace, Name: name.Name}
}

// ParseObjectName is the inverse of [ObjectName.String].
func ParseObjectName(key string) (ObjectName, error) {
	namespace, name, err := SplitMetaNamespaceKey(key)
	return ObjectName{Namespace: namespace, Name: name}, err
}

// SplitMetaNamespaceKey is the inverse of [MetaNamespaceKeyFunc]. It returns an error for more than one
// slash.
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	first, rest, both := strings.Cut(key, "/")
	switch {
	case !both:
		return "", first, nil
	case !strings.Contains(rest, "/"):
		return first, rest, nil
	}
	return "", "", fmt.Errorf("unexpected key format: %q", key)
}

// MetaNamespaceIndexFunc indexes API objects by namespace.
func MetaNamespaceIndexFunc(obj any) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return []string{""}, fmt.Errorf("object has no meta: %w", err)
	}
	return []string{m.GetNamespace()}, nil
}

// IndexFuncToKeyFuncAdapter returns a key function whose key is the value of an index function. It returns
// an error for an object with several values, or with none.
func IndexFuncToKeyFuncAdapter(indexFunc IndexFunc) KeyFunc {
	return func(obj any) (string, error) {
		values, err := indexFunc(obj)
		switch {
		case err != nil:
			return "", err
		case len(values) == 0:
			return "", fmt.Errorf("unexpected empty indexKeys")
		case len(values) > 1:
			return "", fmt.Errorf("too many keys: %v", values)
		}
		return values[0], nil
	}
}

// TypedIndexerFuncToIndexerFunc returns a typed index function as an untyped one, which panics for objects
// of another type than T.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return func(obj any) ([]string, error) { return indexer(obj.(T)) }
}

// TypedIndexersToIndexers returns typed index functions as untyped ones, which panic for objects of another
// type than T.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	untyped := make(Indexers, len(indexers))
	for name, indexer := range indexers {
		untyped[name] = TypedIndexerFuncToIndexerFunc(indexer)
	}
	return untyped
}
