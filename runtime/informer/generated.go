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

// ResourceClient is the part of a generated typed client that an informer
// needs.
type ResourceClient[L runtime.Object] = listwatch.Client[L]

// Options are what generated constructors of informers pass on.
type Options struct {
	// Client is the clientset. It is asked only whether it supports WatchList
	// semantics, see [k8s.io/client-go/util/watchlist].
	Client any
	// Resource is what the informer caches.
	Resource schema.GroupVersionResource
	// ResyncPeriod is the default of handlers; zero is no resync.
	ResyncPeriod time.Duration
	// Indexers are the indexes that the cache starts with.
	Indexers cache.Indexers
	// InformerName identifies the informer, with its resource, in metrics.
	// Optional.
	InformerName *cache.InformerName
	// TweakListOptions changes the options of every list and watch. Optional.
	TweakListOptions func(*metav1.ListOptions)
}

// NewShared makes the informer behind a generated constructor: of objects of type
// T, listed as L. resource returns the client for it; it is called at each list and
// watch, so an informer that is never run needs no working client.
func NewShared[T cache.Object, L runtime.Object](resource func() ResourceClient[L], opts Options) cache.TypedSharedIndexInformer[T] {
	t := reflect.TypeFor[T]()
	return &typedShared[T]{newGenerated(t, listwatch.FromClient(t, resource, opts.source()), opts)}
}

// source is the part of the options that is the source's.
func (o Options) source() listwatch.ClientOptions {
	return listwatch.ClientOptions{TweakListOptions: o.TweakListOptions, Client: o.Client}
}

// newGenerated makes an informer of objects of type t. Whatever it consists of is
// compiled here, once for all types: in the packages of generated code there is
// only what converts objects to their type where typed handlers get them.
func newGenerated(t reflect.Type, source listwatch.Source, opts Options) cache.SharedIndexInformer {
	return newShared(config[cache.ObjectName]{
		source:       source,
		keys:         indexer.ObjectNames(t),
		resyncPeriod: opts.ResyncPeriod,
		// Reserves the resource under the name, or logs that it is taken.
		identifier: sync.OnceValue(func() cache.InformerNameAndResource {
			return opts.InformerName.WithResource(opts.Resource)
		}),
		name:     opts.InformerName.Name(),
		typeName: t.String(),
	}, opts.Indexers)
}
