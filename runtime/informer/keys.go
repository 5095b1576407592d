package informer

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Keys says how objects are keyed, and how keys look at client-go's borders,
// where they are strings. The functions are safe for concurrent use.
type Keys[K comparable, T any] struct {
	// Of returns the key of an object.
	Of func(T) (K, error)
	// OfAny returns the key of whatever may stand for an object at the border:
	// the object, one like it of another type, its tombstone, or a
	// [cache.ExplicitKey].
	OfAny func(any) (K, error)
	// String and Parse convert keys. No object has a key that Parse refuses.
	String func(K) string
	Parse  func(string) (K, error)
	// Type, if not nil, is the type of all objects: none of another type comes in
	// at the border. It is for where T is an interface.
	Type reflect.Type
}

// admits says whether obj is of the objects' type.
func (k *Keys[K, T]) admits(obj any) (typed T, ok bool) {
	typed, ok = obj.(T)
	return typed, ok && (k.Type == nil || reflect.TypeOf(obj) == k.Type)
}

// typeName is how errors call the objects' type.
func (k *Keys[K, T]) typeName() string {
	if k.Type != nil {
		return k.Type.String()
	}
	return reflect.TypeFor[T]().String()
}

// ObjectNames keys API objects by namespace and name.
func ObjectNames[T cache.Object]() Keys[cache.ObjectName, T] {
	return Keys[cache.ObjectName, T]{
		Of: func(obj T) (cache.ObjectName, error) {
			return cache.ObjectName{Namespace: obj.GetNamespace(), Name: obj.GetName()}, nil
		},
		OfAny:  objectName,
		String: cache.ObjectName.String,
		Parse:  parseObjectName,
	}
}

// ObjectNamesOf is ObjectNames for objects of type t, which is known when the
// program runs. Objects of another type have no key, so that no informer stores
// them.
func ObjectNamesOf(t reflect.Type) Keys[cache.ObjectName, any] {
	return Keys[cache.ObjectName, any]{
		Of: func(obj any) (cache.ObjectName, error) {
			if reflect.TypeOf(obj) != t {
				return cache.ObjectName{}, fmt.Errorf("a %T is no %s", obj, t)
			}
			m, ok := obj.(metav1.Object)
			if !ok {
				return cache.ObjectName{}, fmt.Errorf("a %T has no metadata", obj)
			}
			return cache.ObjectName{Namespace: m.GetNamespace(), Name: m.GetName()}, nil
		},
		OfAny:  objectName,
		String: cache.ObjectName.String,
		Parse:  parseObjectName,
		Type:   t,
	}
}

// objectName returns the name of what may stand for an object.
func objectName(obj any) (cache.ObjectName, error) {
	switch obj := obj.(type) {
	case cache.DeletedFinalStateUnknown:
		return parseObjectName(obj.Key)
	case cache.ExplicitKey:
		return parseObjectName(string(obj))
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return cache.ObjectName{}, fmt.Errorf("object has no meta: %w", err)
	}
	return cache.ObjectName{Namespace: m.GetNamespace(), Name: m.GetName()}, nil
}

// parseObjectName is [cache.ParseObjectName] for keys only: "/name" is the key of
// no object.
func parseObjectName(key string) (cache.ObjectName, error) {
	if strings.HasPrefix(key, "/") {
		return cache.ObjectName{}, fmt.Errorf("unexpected key format: %q", key)
	}
	return cache.ParseObjectName(key)
}

// versionOf returns the resourceVersion in an object's metadata, "" if it has
// none.
func versionOf[T any](obj T) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}
