package factory

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/lister"
)

// Generic is what a generated factory's ForResource returns: an informer and an
// untyped lister over its cache.
type Generic struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

// NewGeneric returns a Generic for an informer and the resource that it caches.
// The lister's NotFound errors name the resource.
func NewGeneric(informer cache.SharedIndexInformer, resource schema.GroupResource) *Generic {
	return &Generic{informer: informer, resource: resource}
}

// Informer returns the informer.
func (g *Generic) Informer() cache.SharedIndexInformer { return g.informer }

// Lister returns a lister over the informer's cache.
func (g *Generic) Lister() cache.GenericLister {
	return lister.NewGeneric(g.informer.GetIndexer(), g.resource)
}
