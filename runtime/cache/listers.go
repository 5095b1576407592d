package cache

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
)

// NewGenericLister returns a lister over indexer. Its NotFound errors name resource.
func NewGenericLister(indexer Indexer, resource schema.GroupResource) GenericLister {
	return genlister.NewGeneric(indexer, resource)
}

// ListAll calls appendFn with each object of store that selector matches. The objects are the store's: they
// must not be changed. It returns an error if selector isn't empty and an object has no metadata.
func ListAll(store Store, selector labels.Selector, appendFn AppendFunc) error {
	return cache.ListAll(store, selector, appendFn)
}

// ListAllByNamespace calls appendFn with each object of namespace that selector matches, or of all
// namespaces if namespace is "". Without an index of the name [NamespaceIndex], it looks at every object.
func ListAllByNamespace(
	indexer Indexer, namespace string, selector labels.Selector, appendFn AppendFunc,
) error {
	return cache.ListAllByNamespace(indexer, namespace, selector, appendFn)
}
