package informer

import (
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// ResourceClient is the part of a generated typed client that an informer needs.
type ResourceClient[L runtime.Object] = listwatch.Client[L]

// Options are the options that generated constructors of informers pass on.
type Options struct {
	// Client is the clientset. The informer uses it only to find out whether it supports WatchList semantics,
	// see [k8s.io/client-go/util/watchlist].
	Client any
	// Resource is the resource that the informer caches.
	Resource schema.GroupVersionResource
	// ResyncPeriod is the default for handlers. Zero is no resync.
	ResyncPeriod time.Duration
	// Indexers are the indexes that the cache starts with.
	Indexers cache.Indexers
	// InformerName, with the resource, identifies the informer in metrics. It may be
	// nil.
	InformerName *cache.InformerName
	// TweakListOptions changes the options of every list and watch. It may be nil.
	TweakListOptions func(*metav1.ListOptions)
}

// NewShared returns the informer of a generated constructor: objects are of type T, lists of type L. resource
// returns the client. It is called for each list and watch, so an informer that never runs needs no client.
// NewShared panics if an index function is nil.
func NewShared[T cache.Object, L runtime.Object](
	resource func() ResourceClient[L], opts Options,
) cache.TypedSharedIndexInformer[T] {
	t := reflect.TypeFor[T]()
	return &typedShared[T]{newGenerated(t, listwatch.FromClient(t, resource, opts.source()), opts)}
}

// source returns the options of the informer's source.
func (o Options) source() listwatch.ClientOptions {
	return listwatch.ClientOptions{TweakListOptions: o.TweakListOptions, Client: o.Client}
}

// newGenerated makes an informer of objects of type t. It has no type parameter, so it is
// compiled once and not with each generated package.
func newGenerated(t reflect.Type, source listwatch.Source, opts Options) cache.SharedIndexInformer {
	return newShared(config[cache.ObjectName]{
		source:       source,
		keys:         indexer.ObjectNames(t),
		resyncPeriod: opts.ResyncPeriod,
		// WithResource reserves the resource under the name, or logs that it is taken.
		identifier: sync.OnceValue(func() cache.InformerNameAndResource {
			return opts.InformerName.WithResource(opts.Resource)
		}),
		name:     opts.InformerName.Name(),
		typeName: t.String(),
	}, opts.Indexers)
}
