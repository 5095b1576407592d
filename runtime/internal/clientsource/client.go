// Package clientsource makes the sources that reflectors read from: [FromClient] of a generated typed client,
// [FromListerWatcher] of any [k8s.io/client-go/tools/cache.ListerWatcher].
//
// A list function is called with a context by which the transport recognises its requests. The result is what
// the transport has read, not what the function returns: an error after the first item fails the list, even
// if the function returns none. If a function lists a collection twice, the last list counts. If it lists
// several collections, its list is read in one piece.
package clientsource

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/internal/clientgo"
	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// Options configure [FromClient]. The zero value is valid.
type Options struct {
	// TweakListOptions, if not nil, changes the options of every list and watch
	// before they are sent.
	TweakListOptions func(*metav1.ListOptions)
	// Client is the clientset, if any. If it reports that it doesn't support WatchList
	// semantics, so does the source; see
	// [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics].
	Client any
	// Subject names in errors what is listed. The default is the type of the objects.
	Subject string
	// Decoding configures lists and watches that are streamed.
	Decoding sources.Decoding
	// Limiter, if not nil, bounds how many of the sources that share it read a list at a time.
	Limiter *listwatch.Limiter
	// Streamed declares that the client of unstructured or metadata objects returns what
	// the server sends. client-go's own dynamic and metadata clients need no declaration. Lists and
	// watches are streamed if the client's HTTP client has the transport of [listwatch.Wrap].
	Streamed bool
}

// FromClient returns a source over a typed client whose objects are of type t, a pointer,
// and whose lists are of type L. The source calls resource for each list and each watch, and
// not earlier: a caller that never lists needs no working client.
//
// Only the conversion of the client is compiled for each L, in the package that calls
// FromClient.
func FromClient[L runtime.Object](
	t reflect.Type, resource func() sources.Client[L], opts Options,
) sources.Source {
	return newClientSource(t, func() untypedClient {
		c := resource()
		if c == nil {
			return untypedClient{}
		}
		list := func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return c.List(ctx, opts)
		}
		return untypedClient{c, list}
	}, opts)
}

// untypedClient is a [sources.Client] without the type of its lists, the zero value if
// there is no client.
type untypedClient struct {
	client watcher
	list   func(context.Context, metav1.ListOptions) (runtime.Object, error)
}

type watcher interface {
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

func newClientSource(t reflect.Type, resource func() untypedClient, opts Options) *source {
	if v := reflect.ValueOf(opts.Client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		resource = explainPanic(cmp.Or(opts.Subject, t.String()), resource)
	}
	untypedKinds := kindsOfType(t, schema.GroupVersionKind{})
	watchListUnsupported := watchlist.DoesClientNotSupportWatchListSemantics(opts.Client)
	s := &source{
		collection: func() collection {
			typed := resource()
			if typed.client == nil {
				return collection{}
			}
			c := collection{
				list: typed.list, watch: typed.client.Watch, notStreamed: "the client is no generated one",
			}
			if opts.Streamed || clientgo.ReturnsAsSent(opts.Client, typed.client) {
				c.kinds = untypedKinds
			}
			if streaming, ok := typed.client.(client.Streaming); ok {
				c = collectionAt(streaming.RESTResource(), t)
			}
			c.written, _ = typed.client.(client.Writing)
			return c
		},
		tweak:          opts.TweakListOptions,
		lacksWatchList: func() bool { return watchListUnsupported },
		expected:       expectation{goType: t},
		itemType:       t,
		counts:         &readingCounts{},
	}
	s.decodeWith(t, opts.Decoding)
	s.limiter = opts.Limiter
	return s
}

// explainPanic makes a panic of resource explain its cause: the clientset is nil, which is
// allowed as long as nobody lists.
func explainPanic(subject string, resource func() untypedClient) func() untypedClient {
	return func() untypedClient {
		defer func() {
			if v := recover(); v != nil {
				panic(fmt.Sprintf("the informer of %s, or its factory, was made with a nil clientset "+
					"and can't run: %v",
					subject, v))
			}
		}()
		return resource()
	}
}
