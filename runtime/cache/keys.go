package cache

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MetaNamespaceKeyFunc returns namespace/name of an API object, only the name of
// a cluster-scoped one, and an ExplicitKey as it is. A name may contain anything
// but a slash.
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

// DeletionHandlingMetaNamespaceKeyFunc is MetaNamespaceKeyFunc that also takes
// tombstones.
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

// DeletionHandlingObjectToName is ObjectToName that also takes tombstones.
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

// NewObjectName returns an ObjectName; the namespace of something
// cluster-scoped is "".
func NewObjectName(namespace, name string) ObjectName {
	return ObjectName{Namespace: namespace, Name: name}
}

// NamespacedNameAsObjectName returns the same as an ObjectName.
func NamespacedNameAsObjectName(name types.NamespacedName) ObjectName {
	return ObjectName{Namespace: name.Namespace, Name: name.Name}
}

// ParseObjectName is the inverse of ObjectName.String.
func ParseObjectName(key string) (ObjectName, error) {
	namespace, name, err := SplitMetaNamespaceKey(key)
	return ObjectName{Namespace: namespace, Name: name}, err
}

// SplitMetaNamespaceKey takes apart what MetaNamespaceKeyFunc returned.
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

// IndexFuncToKeyFuncAdapter makes a key function of an index function that gives
// each object exactly one value.
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

// TypedIndexerFuncToIndexerFunc makes an untyped index function of a typed one.
// It panics for objects of other types.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return func(obj any) ([]string, error) { return indexer(obj.(T)) }
}

// TypedIndexersToIndexers makes untyped index functions of typed ones.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	untyped := make(Indexers, len(indexers))
	for name, indexer := range indexers {
		untyped[name] = TypedIndexerFuncToIndexerFunc(indexer)
	}
	return untyped
}
