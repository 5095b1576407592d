package informer

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

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

// NewShared makes the informer behind a generated constructor: of the type T,
// listed as L. resource returns the client for it; it is called at each list
// and watch, so an informer that is never run needs no working client.
func NewShared[T cache.Object, L runtime.Object](resource func() ResourceClient[L], opts Options) *TypedShared[T] {
	return &TypedShared[T]{newShared(reflect.TypeFor[T](), func() listwatch.UntypedClient { return listwatch.Erase(resource()) }, opts)}
}

// newShared makes an informer of objects of type t. Whatever it consists of is
// compiled here, once for all types: in the packages of generated code there is
// only what converts objects to their type where typed handlers get them.
func newShared(t reflect.Type, resource func() listwatch.UntypedClient, opts Options) cache.SharedIndexInformer {
	if v := reflect.ValueOf(opts.Client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		resource = explained(t, resource)
	}
	return Share(Config[cache.ObjectName, any]{
		Source: listwatch.FromClientOf(t, resource, listwatch.ClientOptions{
			TweakListOptions: opts.TweakListOptions,
			Client:           opts.Client,
		}),
		ResyncPeriod: opts.ResyncPeriod,
		// Reserves the resource under the name, or logs that it is taken.
		Identifier: sync.OnceValue(func() cache.InformerNameAndResource {
			return opts.InformerName.WithResource(opts.Resource)
		}),
		Name:     opts.InformerName.Name(),
		TypeName: t.String(),
	}, ObjectNamesOf(t), opts.Indexers)
}

// explained is resource whose panic, if it has one, says what the client is: nil,
// which is fine for who asks it nothing.
func explained(t reflect.Type, resource func() listwatch.UntypedClient) func() listwatch.UntypedClient {
	return func() listwatch.UntypedClient {
		defer func() {
			if v := recover(); v != nil {
				panic(fmt.Sprintf("the informer of %s, or its factory, was made with a nil clientset and can't run: %v", t, v))
			}
		}()
		return resource()
	}
}
