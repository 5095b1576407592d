package listwatch

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/clientgo"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// ClientOptions configure [FromClient]. The zero value is valid.
type ClientOptions struct {
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
	Limiter *Limiter
	// Streamed declares that the client of unstructured or metadata objects returns what
	// the server sends. client-go's own dynamic and metadata clients need no declaration. Lists and
	// watches are streamed if the client's HTTP client has the transport of [Wrap].
	Streamed bool
}

// FromClient returns a source over a typed client whose objects are of type t, a pointer,
// and whose lists are of type L. The source calls resource for each list and each watch, and
// not earlier: a caller that never lists needs no working client.
//
// Only the conversion of the client is compiled for each L, in the package that calls
// FromClient.
func FromClient[L runtime.Object](
	t reflect.Type, resource func() sources.Client[L], opts ClientOptions,
) sources.Source {
	return newClientSource(t, func() untypedClient {
		client := resource()
		if client == nil {
			return untypedClient{}
		}
		list := func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, opts)
		}
		return untypedClient{client, list}
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

func newClientSource(t reflect.Type, resource func() untypedClient, opts ClientOptions) *source {
	if v := reflect.ValueOf(opts.Client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		resource = explainPanic(cmp.Or(opts.Subject, t.String()), resource)
	}
	untypedKinds := kindsOfType(t, schema.GroupVersionKind{})
	watchListUnsupported := lacksWatchList(opts.Client)
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
			if streaming, ok := typed.client.(Streaming); ok {
				c = streaming.RESTResource().collection(t)
			}
			c.written, _ = typed.client.(Writing)
			return c
		},
		tweak:          opts.TweakListOptions,
		lacksWatchList: func() bool { return watchListUnsupported },
		expected:       expectation{goType: t},
		itemType:       t,
		tally:          &tally{},
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
