// Package metadatainformer has client-go's metadata informers on this runtime, under the names of
// k8s.io/client-go/metadata/metadatainformer: a program moves by the import path. They are informers of
// *metav1.PartialObjectMetadata.
//
// Functions of packages informer and factory that accept generated informers and factories accept these,
// too, except factory.For: it finds informers by Go type, and the key of these informers is the resource.
// Functions of package lister accept the listers of these informers.
//
// The informers read lists and watches as streams if the client's configuration has the transport of
// [github.com/kubewright/kubewright/runtime/listwatch.Wrap].
package metadatainformer

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	clientgo "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers/internal/resources"
	"github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// SharedInformerFactory makes and runs metadata informers. It is client-go's interface. The methods of the
// factories of this package are safe for concurrent use.
type SharedInformerFactory = clientgo.SharedInformerFactory

// TweakListOptionsFunc changes the options of lists and watches. It is client-go's type.
type TweakListOptionsFunc = clientgo.TweakListOptionsFunc

// SharedInformerOption changes a factory as it is made.
type SharedInformerOption func(*metadataSharedInformerFactory) *metadataSharedInformerFactory

// metadataSharedInformerFactory is what options change.
type metadataSharedInformerFactory struct{ transform cache.TransformFunc }

// WithTransform makes every informer pass its objects to transform before it stores them.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(f *metadataSharedInformerFactory) *metadataSharedInformerFactory {
		f.transform = transform
		return f
	}
}

// NewSharedInformerFactory returns a factory of informers for all namespaces.
func NewSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory of informers for a namespace. tweakListOptions, if not
// nil, changes the options of their lists and watches.
func NewFilteredSharedInformerFactory(
	client metadata.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions TweakListOptionsFunc,
) SharedInformerFactory {
	return newFactory(client, defaultResync, namespace, tweakListOptions, nil)
}

// NewSharedInformerFactoryWithOptions returns a factory of informers for all namespaces.
func NewSharedInformerFactoryWithOptions(
	client metadata.Interface, defaultResync time.Duration, options ...SharedInformerOption,
) SharedInformerFactory {
	f := &metadataSharedInformerFactory{}
	for _, option := range options {
		f = option(f)
	}
	return newFactory(client, defaultResync, metav1.NamespaceAll, nil, f.transform)
}

func newFactory(
	client metadata.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions TweakListOptionsFunc, transform cache.TransformFunc,
) SharedInformerFactory {
	return resources.New(func(
		resource schema.GroupVersionResource, indexers cache.Indexers,
	) cache.SharedIndexInformer {
		i := newInformer(client, resource, namespace, defaultResync, indexers, tweakListOptions)
		_ = i.SetTransform(transform) // fails only after the start
		return i
	})
}

// NewFilteredMetadataInformer returns an informer that belongs to no factory.
func NewFilteredMetadataInformer(
	client metadata.Interface, gvr schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc,
) informers.GenericInformer {
	return factory.NewGeneric(
		newInformer(client, gvr, namespace, resyncPeriod, indexers, tweakListOptions), gvr.GroupResource())
}

func newInformer(
	client metadata.Interface, resource schema.GroupVersionResource, namespace string,
	resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc,
) cache.SharedIndexInformer {
	of := func() informer.ResourceClient[*metav1.PartialObjectMetadataList] {
		return client.Resource(resource).Namespace(namespace)
	}
	return informer.NewShared[*metav1.PartialObjectMetadata](of, informer.Options{
		Client: client, Resource: resource, Namespace: namespace, OtherTypes: true,
		ResyncPeriod: resyncPeriod, Indexers: indexers, TweakListOptions: tweakListOptions,
	})
}
