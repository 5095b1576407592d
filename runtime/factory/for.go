package factory

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// For returns the informer and the lister of objects of type T, for which nothing was
// generated. c is the client from client.For, or its Namespace, to cache a single namespace.
// Tests can use a client of package client/fake:
//
//	informers := factory.New[any](nil, 0)
//	bakeries, err := factory.For(informers, bakeryClient)
//	...
//	_, err = bakeries.TypedInformer().AddTypedEventHandler(handler)
//	informers.StartWithContext(ctx)
//	err = factory.WaitForSync(ctx, informers)
//	bakery, err := bakeries.Lister().ByNamespace("town").Get("corner")
//
// f is a factory of [New], as here, or a generated factory, which then has informers of both
// sorts. It makes, starts and shuts down the informer like those of generated code, and all
// functions of this package and of package informer apply to the informer. WithNamespace and
// WithTweakListOptions of a generated factory don't apply to it: c, and [TweakListOptions],
// determine what it lists.
//
// The informer is made when it, or the lister, is first requested. A factory has one informer
// for each type: if generated code makes one of T, too, the first request determines which of
// the two is made. For returns an error if it was called before with f and T, but with another
// namespace or resource, or if the key of f's informers isn't their type. It is safe for
// concurrent use.
func For[T interface {
	cache.Object
	runtime.Object
}, L runtime.Object](f any, c interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Resource() schema.GroupVersionResource
}) (*Access[cache.TypedSharedIndexInformer[T], lister.Embedding[T]], error) {
	t := reflect.TypeFor[T]()
	b, err := informersByType(f)
	if err == nil && c == nil {
		err = errors.New("the client is nil")
	}
	if err == nil {
		err = b.claim(t, collectionOf(c, c.Resource()))
	}
	if err != nil {
		return nil, fmt.Errorf("make an informer of %s: %w", t, err)
	}
	resource := c.Resource()
	get := func() cache.SharedIndexInformer {
		return b.informer(t, func(resync time.Duration) cache.SharedIndexInformer {
			return informer.NewShared[T, L](
				func() informer.ResourceClient[L] { return c }, b.options(*new(T), c, resource, resync))
		})
	}
	return NewAccess(get, informer.Typed[T], func(indexer cache.Indexer) lister.Embedding[T] {
		return lister.Embedding[T]{ResourceIndexer: lister.New[T](indexer, resource.GroupResource())}
	}), nil
}

// informersByType returns the byType behind f. It returns an error if f doesn't have one.
func informersByType(f any) (*byType, error) {
	o, err := ownerOf(f)
	if err != nil {
		return nil, err
	}
	b, ok := o.(*byType)
	if !ok {
		return nil, fmt.Errorf("%T doesn't find its informers by their type: use a factory of New", f)
	}
	return b, nil
}

// options returns the options of the informer of obj's type, which lists and watches with client.
func (b *byType) options(
	obj runtime.Object, client any, resource schema.GroupVersionResource, resync time.Duration,
) informer.Options {
	namespace := collectionOf(client, resource).namespace
	if _, ok := client.(fakeClient); ok {
		client = onlyLists{}
	}
	return informer.Options{
		Client:           client,
		Resource:         resource,
		Namespace:        namespace,
		ResyncPeriod:     resync,
		Indexers:         cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		InformerName:     b.informerName,
		TweakListOptions: tweaksOf[func(*metav1.ListOptions)](b, obj, nil),
	}
}

// fakeClient is a client of package client/fake. Unlike a fake clientset, it has no method
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
