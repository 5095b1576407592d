package lister

import (
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// NewGeneric returns a lister for code that doesn't know the objects' type. It returns the same objects as a
// lister of [New], with the same code.
func NewGeneric(indexer cache.Indexer, resource schema.GroupResource) cache.GenericLister {
	return generic{New[runtime.Object](indexer, resource)}
}

// generic lists one namespace, or all if it is empty.
type generic struct {
	ResourceIndexer[runtime.Object]
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
