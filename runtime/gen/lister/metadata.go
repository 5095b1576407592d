package lister

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Metadata lists the metadata of a resource's objects, of all namespaces or of
// one. It is a small value and safe for concurrent use.
type Metadata struct {
	ResourceIndexer[*metav1.PartialObjectMetadata]
}

// NewMetadata returns a lister over the indexer of an informer that caches
// metadata only; see [New].
func NewMetadata(indexer cache.Indexer, resource schema.GroupResource) Metadata {
	return Metadata{New[*metav1.PartialObjectMetadata](indexer, resource)}
}

// ByNamespace returns a lister of one namespace, or of all if it is empty.
func (l Metadata) ByNamespace(namespace string) Metadata {
	return Metadata{NewNamespaced(l.ResourceIndexer, namespace)}
}
