package lister

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// NewGeneric returns a lister for code that doesn't know the objects' type. It returns the same objects as a
// lister of [New], with the same code.
func NewGeneric(indexer cache.Indexer, resource schema.GroupResource) cache.GenericLister {
	return generic{reader{of: newSource(indexer, resource)}}
}

// generic lists one namespace, or all if it is empty.
type generic struct{ reader }

func (l generic) List(selector labels.Selector) (ret []runtime.Object, err error) {
	err = l.of.list(l.namespace, selector,
		func(n int) { ret = make([]runtime.Object, 0, n) },
		func(obj any) { ret = append(ret, obj.(runtime.Object)) })
	return ret, err
}

func (l generic) Get(name string) (runtime.Object, error) {
	obj, err := l.of.get(l.namespace, name)
	if err != nil {
		return nil, err
	}
	return obj.(runtime.Object), nil
}

func (l generic) ByNamespace(namespace string) cache.GenericNamespaceLister {
	l.namespace = namespace
	if namespace == "" {
		return unnamed{l}
	}
	return l
}

// unnamed is the lister of the namespace "". As in client-go, its List lists all
// namespaces, and its Get never finds an object.
type unnamed struct{ generic }

func (l unnamed) Get(name string) (runtime.Object, error) {
	return nil, errors.NewNotFound(l.of.(*source).resource, name)
}

// getFrom returns what the indexer holds under a key; name is for the error.
func getFrom(indexer cache.Indexer, resource schema.GroupResource, key, name string) (any, error) {
	obj, exists, err := indexer.GetByKey(key)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, errors.NewNotFound(resource, name)
	}
	return obj, nil
}

// listIndexer returns the objects of a namespace, or all if it is empty.
func listIndexer(indexer cache.Indexer, namespace string) ([]any, error) {
	if namespace == "" {
		return indexer.List(), nil
	}
	indexed, err := indexer.Index(cache.NamespaceIndex, &metav1.ObjectMeta{Namespace: namespace})
	if err == nil {
		return indexed, nil
	}
	klog.TODO().Info("Listing a namespace without an index: all objects are read", "err", err)
	var found []any
	for _, obj := range indexer.List() {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		if m.GetNamespace() == namespace {
			found = append(found, obj)
		}
	}
	return found, nil
}
