package cache

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
)

// NewGenericLister returns a lister over indexer. Its NotFound errors name resource.
func NewGenericLister(indexer Indexer, resource schema.GroupResource) GenericLister {
	return genlister.NewGeneric(indexer, resource)
}

// ListAll calls appendFn with each object of store that selector matches. The objects are the store's: they
// must not be changed. It returns an error if selector isn't empty and an object has no metadata.
func ListAll(store Store, selector labels.Selector, appendFn AppendFunc) error {
	if labels.MatchesNothing(selector) {
		return nil
	}
	return appendMatching(store.List(), selector, nil, appendFn)
}

// ListAllByNamespace calls appendFn with each object of namespace that selector matches, or of all
// namespaces if namespace is "". Without an index of the name [NamespaceIndex], it looks at every object.
func ListAllByNamespace(
	indexer Indexer, namespace string, selector labels.Selector, appendFn AppendFunc,
) error {
	if labels.MatchesNothing(selector) {
		return nil
	}
	if namespace == metav1.NamespaceAll {
		return ListAll(indexer, selector, appendFn)
	}
	items, err := indexer.Index(NamespaceIndex, &metav1.ObjectMeta{Namespace: namespace})
	if err != nil {
		klog.Background().Info("Warning: can not retrieve list of objects using index", "err", err)
		return appendMatching(indexer.List(), selector, &namespace, appendFn)
	}
	return appendMatching(items, selector, nil, appendFn)
}

// appendMatching reads the metadata of items only if it has to: without a selector and a namespace, items may
// be of any type.
func appendMatching(items []any, selector labels.Selector, namespace *string, appendFn AppendFunc) error {
	for _, item := range items {
		if namespace == nil && selector.Empty() {
			appendFn(item)
			continue
		}
		m, err := meta.Accessor(item)
		if err != nil {
			return err
		}
		if (namespace == nil || m.GetNamespace() == *namespace) &&
			selector.Matches(labels.Set(m.GetLabels())) {
			appendFn(item)
		}
	}
	return nil
}
