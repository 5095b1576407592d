package factory

import (
	"context"
	"errors"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/gen/lister"
)

// Client is a client of client.For, or has its methods.
type Client[T any, L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Resource() schema.GroupVersionResource
}

// For is factory.For for the factory of a set.
func For[T interface {
	cache.Object
	runtime.Object
}, L runtime.Object](o Owner, c Client[T, L]) (
	*Access[cache.TypedSharedIndexInformer[T], lister.Embedding[T]], error,
) {
	t := reflect.TypeFor[T]()
	b, ok := o.(*byType)
	if !ok {
		return nil, errors.New("the factory doesn't find its informers by their type: use a factory of New")
	}
	if c == nil {
		return nil, errors.New("the client is nil")
	}
	if err := b.claim(t, collectionOf(c, c.Resource())); err != nil {
		return nil, err
	}
	resource := c.Resource()
	get := func() cache.SharedIndexInformer {
		return b.informer(t, func(resync time.Duration) cache.SharedIndexInformer {
			return informer.NewShared[T, L](
				func() informer.ResourceClient[L] { return c }, b.options(c, resource, resync))
		})
	}
	return NewAccess(get, informer.Typed[T], func(indexer cache.Indexer) lister.Embedding[T] {
		return lister.Embedding[T]{ResourceIndexer: lister.New[T](indexer, resource.GroupResource())}
	}), nil
}

// options returns the options of an informer that lists and watches with client.
func (b *byType) options(
	client any, resource schema.GroupVersionResource, resync time.Duration,
) informer.Options {
	namespace := collectionOf(client, resource).namespace
	if _, ok := client.(fakeClient); ok {
		client = onlyLists{}
	}
	return informer.Options{
		Client:       client,
		Resource:     resource,
		Namespace:    namespace,
		ResyncPeriod: resync,
		Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		InformerName: b.informerName,
	}
}

// fakeClient is a client of package gen/fake. Unlike a fake clientset, it has no method
// IsWatchListSemanticsUnSupported: the method would be compiled anew for each generated client.
type fakeClient interface {
	Namespace() string
	Kind() schema.GroupVersionKind
}

// onlyLists is a placeholder for a clientset that sends no initial events.
type onlyLists struct{}

func (onlyLists) IsWatchListSemanticsUnSupported() bool { return true }

// collection is what a client lists.
type collection struct {
	resource  schema.GroupVersionResource
	namespace string
}

// collectionOf returns the collection that a client of package client or of its fakes lists.
func collectionOf(client any, resource schema.GroupVersionResource) collection {
	c := collection{resource: resource}
	switch client := client.(type) {
	case interface{ GetNamespace() string }:
		c.namespace = client.GetNamespace()
	case fakeClient:
		c.namespace = client.Namespace()
	}
	return c
}

func (c collection) String() string {
	name := c.resource.GroupResource().String()
	if c.namespace == "" {
		return name
	}
	return name + " in namespace " + c.namespace
}
