// Package informer is for generated code, which constructs its informers with it. Programs use package
// runtime/informer.
package informer

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// ResourceClient is the part of a generated typed client that an informer needs. L is a list.
type ResourceClient[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Options are the options that generated constructors of informers pass on.
type Options struct {
	// Client is the clientset. The informer sends nothing through it. It only checks whether the clientset
	// supports WatchList semantics, see [k8s.io/client-go/util/watchlist], and whether it is nil, to explain
	// the panic.
	Client any
	// Type is the type of the objects, a pointer, if T is an interface, so that nothing is compiled for each
	// type. nil means T.
	Type reflect.Type
	// OtherTypes means that a transform may return pointers to objects of other types. Typed handlers, loops,
	// index functions and reads panic at them.
	OtherTypes bool
	// Resource is the resource that the informer caches, Namespace the namespace that it is
	// limited to, if any. They are part of the informer's name in its status and errors.
	Resource  schema.GroupVersionResource
	Namespace string
	// ResyncPeriod is the default for handlers. Zero means no resyncs, even for handlers
	// that request them.
	ResyncPeriod time.Duration
	// Indexers are the indexes that the cache starts with.
	Indexers cache.Indexers
	// InformerName, with the resource, identifies the informer in metrics. It may be
	// nil.
	InformerName *cache.InformerName
	// TweakListOptions changes the options of every list and watch. It may be nil.
	TweakListOptions func(*metav1.ListOptions)
	// Streamed declares that another client of unstructured or metadata objects than client-go's own returns
	// what the server sends, see [clientsource.Options].
	Streamed bool
}

// NewShared returns the informer of a generated constructor: objects are of type T, lists of type L. resource
// returns the client. It is called for each list and watch, so an informer that never runs needs no client.
// NewShared panics if an index function is nil.
func NewShared[T cache.Object, L runtime.Object](
	resource func() ResourceClient[L], opts Options,
) cache.TypedSharedIndexInformer[T] {
	t := cmp.Or(opts.Type, reflect.TypeFor[T]())
	client := func() sources.Client[L] { return resource() }
	return engine.Typed[T](newShared(t, clientsource.FromClient(t, client, opts.source(t)), opts))
}

// source returns the options of the informer's source.
func (o Options) source(t reflect.Type) clientsource.Options {
	return clientsource.Options{
		TweakListOptions: o.TweakListOptions, Client: o.Client, Subject: o.subject(t), Streamed: o.Streamed,
	}
}

// subject returns what the informer caches: "apps/v1 deployments in namespace shop", or the
// objects' type if there is no resource.
func (o Options) subject(t reflect.Type) string {
	if o.Resource.Empty() {
		return t.String()
	}
	subject := o.Resource.GroupVersion().String() + " " + o.Resource.Resource
	if o.Namespace != "" {
		subject += " in namespace " + o.Namespace
	}
	return subject
}

// newShared makes an informer of objects of type t. It has no type parameter, so it is
// compiled once and not with each generated package.
func newShared(t reflect.Type, source sources.Source, opts Options) cache.SharedIndexInformer {
	keys := indexer.ObjectNames(t)
	if opts.OtherTypes {
		keys = indexer.AnyObjectNames(t)
	}
	c := engine.Config[cache.ObjectName]{
		Source:       source,
		Keys:         keys,
		ResyncPeriod: opts.ResyncPeriod,
		// WithResource reserves the resource under the name, or logs that it is taken.
		Identifier: sync.OnceValue(func() cache.InformerNameAndResource {
			return opts.InformerName.WithResource(opts.Resource)
		}),
		Subject:     opts.subject(t),
		Resource:    opts.Resource,
		Namespace:   opts.Namespace,
		TypeName:    t.String(),
		Description: describe(t, opts.Resource),
	}
	if name := opts.InformerName.Name(); name != "" {
		c.Name = fmt.Sprintf("informer of %s (%s)", c.Subject, name)
	}
	return engine.New(c, opts.Indexers)
}

// describe returns the description of the objects in logs of the reflector. As in
// client-go, it is the resource for untyped objects, else the type.
func describe(t reflect.Type, resource schema.GroupVersionResource) string {
	if t == reflect.TypeFor[*unstructured.Unstructured]() && !resource.Empty() {
		return resource.String()
	}
	return t.String()
}

// Typed returns i as an informer of objects of type T: i itself if it is one, else an adapter. With the
// adapter, typed handlers, index functions and reads panic at an object of another type.
func Typed[T cache.Object](i cache.SharedIndexInformer) cache.TypedSharedIndexInformer[T] {
	return engine.Typed[T](i)
}
