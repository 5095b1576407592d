package listwatch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// ClientOptions configure [FromClient]. The zero value is valid.
type ClientOptions struct {
	// TweakListOptions, if not nil, changes the options of every list and watch
	// before they are sent.
	TweakListOptions func(*metav1.ListOptions)
	// Client is the clientset, if any. If it reports that it doesn't support WatchList semantics, so does the
	// source; see [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics].
	Client any
	// Decoding configures lists and watches of a client that implements Streaming.
	Decoding DecodingOptions
}

// FromClient returns a source over a generated typed client whose objects are of type t, a pointer, and whose
// lists are of type L. It calls resource for each list and each watch, and not before, so a caller that never
// lists needs no working client.
//
// Only the conversion of the client is compiled for each L, in the package that calls
// FromClient.
func FromClient[L runtime.Object](t reflect.Type, resource func() Client[L], opts ClientOptions) Source {
	return newClientSource(t, func() untypedClient {
		client := resource()
		if client == nil {
			return untypedClient{}
		}
		return untypedClient{client,
			func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return client.List(ctx, opts)
			}}
	}, opts)
}

// untypedClient is a [Client] without the type of its lists, the zero value if
// there is no client.
type untypedClient struct {
	client watcher
	list   func(context.Context, metav1.ListOptions) (runtime.Object, error)
}

type watcher interface {
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

func newClientSource(t reflect.Type, resource func() untypedClient, opts ClientOptions) *clientSource {
	if v := reflect.ValueOf(opts.Client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		resource = explainPanic(t, resource)
	}
	return &clientSource{
		resource:             resource,
		tweak:                opts.TweakListOptions,
		watchListUnsupported: streamsNoLists(opts.Client),
		// The type of an event's object is compared as client-go compares it:
		// an object of any other type is no event of this resource.
		expected: expectation{goType: t},
		decoding: newDecoding(t, opts.Decoding),
		limiter:  opts.Decoding.Limiter,
	}
}

// explainPanic makes a panic of resource tell its cause: the clientset is nil, which is
// fine as long as nobody lists.
func explainPanic(t reflect.Type, resource func() untypedClient) func() untypedClient {
	return func() untypedClient {
		defer func() {
			if v := recover(); v != nil {
				panic(fmt.Sprintf(
					"the informer of %s, or its factory, was made with a nil clientset and can't run: %v",
					t, v))
			}
		}()
		return resource()
	}
}

type clientSource struct {
	resource             func() untypedClient
	tweak                func(*metav1.ListOptions)
	watchListUnsupported bool
	// expected is the objects' type.
	expected expectation
	// decoding is nil in a source that is below one that streams.
	decoding *decoding
	limiter  *Limiter
	// paused is the lease of a list between two of its pages.
	paused atomic.Pointer[lease]
}

// SetDecoding replaces the decoding options. Call it before the source is read.
func (s *clientSource) SetDecoding(opts DecodingOptions) {
	s.decoding, s.limiter = newDecoding(s.expected.goType, opts), opts.Limiter
}

// KeepUnchanged gives the source access to the cache: lists then return the cached objects for those that
// didn't change. It returns false if the source doesn't stream. Call it before the source is read.
func (s *clientSource) KeepUnchanged(known func(decode.Identity) (any, bool)) bool {
	if s.decoding == nil || !s.decoding.streams() {
		return false
	}
	s.decoding.cached.Known = known
	return true
}

// IsWatchListSemanticsUnSupported is the method that client-go's util/watchlist checks for.
func (s *clientSource) IsWatchListSemanticsUnSupported() bool { return s.watchListUnsupported }

var errNoClient = errors.New("no client to list and watch with")

func (s *clientSource) List(
	ctx context.Context, opts metav1.ListOptions, item func(any) error,
) (ListMeta, error) {
	client, err := s.prepare(&opts)
	if err != nil {
		return ListMeta{}, err
	}
	lease, err := s.lease(ctx, opts.Continue != "")
	if err != nil {
		return ListMeta{}, err
	}
	// The lease ends even if item panics: the reflector may live on.
	kept := false
	defer func() {
		if !kept {
			lease.end()
		}
	}()
	page, err := s.list(ctx, client, opts, lease, item)
	if kept = err == nil && page.Continue != "" && lease.pause(ctx); kept {
		s.paused.Swap(lease).end()
	}
	return page, err
}

func (s *clientSource) list(
	ctx context.Context, client untypedClient, opts metav1.ListOptions, lease *lease, item func(any) error,
) (ListMeta, error) {
	if streaming := s.stream(client, lease); streaming != nil {
		return streaming.List(ctx, opts, item)
	}
	list, err := client.list(ctx, opts)
	if err != nil {
		return ListMeta{}, err
	}
	return readList(list, s.expected.goType, item)
}

func (s *clientSource) Watch(ctx context.Context, opts metav1.ListOptions) (Stream, error) {
	client, err := s.prepare(&opts)
	if err != nil {
		return nil, err
	}
	if s.limiter == nil || !isListing(opts) {
		return s.watch(ctx, client, opts, nil)
	}
	lease, err := s.lease(ctx, false)
	if err != nil {
		return nil, err
	}
	opened := false
	defer func() {
		if !opened {
			lease.end()
		}
	}()
	stream, err := s.watch(ctx, client, opts, lease)
	if err != nil {
		return nil, err
	}
	opened = true
	lease.endWith(ctx)
	return &limitedStream{Stream: stream, lease: lease}, nil
}

// lease returns the lease of a list: that of the page before if the list goes on, else a
// new one. The lease of an abandoned list ends.
func (s *clientSource) lease(ctx context.Context, goesOn bool) (*lease, error) {
	if s.limiter == nil {
		return nil, nil
	}
	paused := s.paused.Swap(nil)
	if goesOn && paused.resume() {
		return paused, nil
	}
	paused.end()
	return s.limiter.enter(ctx)
}

func (s *clientSource) watch(
	ctx context.Context, client untypedClient, opts metav1.ListOptions, lease *lease,
) (Stream, error) {
	if streaming := s.stream(client, lease); streaming != nil {
		return streaming.Watch(ctx, opts)
	}
	w, err := client.client.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return newStream(w, s.expected), nil
}

func (s *clientSource) prepare(opts *metav1.ListOptions) (untypedClient, error) {
	if s.tweak != nil {
		s.tweak(opts)
	}
	client := s.resource()
	if client.client == nil {
		return untypedClient{}, errNoClient
	}
	return client, nil
}

// Written returns what the client remembers of its writes, see [Writing].
func (s *clientSource) Written(namespace string, after uint64) (Written, bool) {
	if writing, ok := s.resource().client.(Writing); ok {
		return writing.Written(namespace, after)
	}
	return Written{}, false
}

// stream returns the streaming source of client, nil if it has none. It charges what it
// decodes to lease if the limiter has a budget.
func (s *clientSource) stream(client untypedClient, lease *lease) Source {
	streaming, ok := client.client.(Streaming)
	if !ok || s.decoding == nil {
		return nil
	}
	if !lease.counts() {
		lease = nil
	}
	return fromREST(streaming.RESTResource(), s.decoding, lease)
}
