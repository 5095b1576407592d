package listwatch

import (
	"context"
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/runtime/decode"
)

// ClientOptions adjusts a source over a generated client. The zero value is
// fine.
type ClientOptions struct {
	// TweakListOptions, if not nil, changes the options of every list and
	// every watch before they are sent.
	TweakListOptions func(*metav1.ListOptions)
	// Client is the clientset, if any. One that says that it doesn't support
	// WatchList semantics (see
	// [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics])
	// makes the source say so too.
	Client any
	// Decoding says how lists and watches of a client that can stream them are
	// streamed.
	Decoding DecodingOptions
}

// FromClient returns a source over a generated typed client with items of type
// T, a pointer, and lists of type L. The resource function is called at each
// list and each watch, not before: whoever never lists needs no working client.
func FromClient[T any, L runtime.Object](resource func() Client[L], opts ClientOptions) Source[T] {
	return &clientSource[T, L]{
		resource:             resource,
		tweak:                opts.TweakListOptions,
		watchListUnsupported: watchlist.DoesClientNotSupportWatchListSemantics(opts.Client),
		// The type of an event's object is compared as client-go compares it:
		// an object of any other type is no event of this resource.
		expected: expectation{goType: reflect.TypeFor[T]()},
		decoding: NewDecoding[T](opts.Decoding),
		limiter:  opts.Decoding.Limiter,
	}
}

type clientSource[T any, L runtime.Object] struct {
	resource             func() Client[L]
	tweak                func(*metav1.ListOptions)
	watchListUnsupported bool
	expected             expectation
	// decoding is nil in a source that is below one that streams.
	decoding *Decoding[T]
	limiter  *Limiter
}

// SetDecoding changes how the source streams. It is for a source that hasn't
// been read from yet.
func (s *clientSource[T, L]) SetDecoding(opts DecodingOptions) {
	s.decoding, s.limiter = NewDecoding[T](opts), opts.Limiter
}

// KeepUnchanged tells the source where to look for objects that are cached: a
// list then brings those that didn't change as they are. It returns whether it
// may do so. It is for a source that hasn't been read from yet.
func (s *clientSource[T, L]) KeepUnchanged(known func(decode.Identity) (T, bool)) bool {
	if s.decoding == nil || !s.decoding.streams() {
		return false
	}
	s.decoding.cached.Known = known
	return true
}

// IsWatchListSemanticsUnSupported says of the client what reflectors ask, by the
// method that client-go looks for.
func (s *clientSource[T, L]) IsWatchListSemanticsUnSupported() bool { return s.watchListUnsupported }

var errNoClient = errors.New("no client to list and watch with")

func (s *clientSource[T, L]) List(ctx context.Context, opts metav1.ListOptions, item func(T) error) (ListMeta, error) {
	client, err := s.prepare(&opts)
	if err != nil {
		return ListMeta{}, err
	}
	leave, err := s.limiter.enter(ctx)
	if err != nil {
		return ListMeta{}, err
	}
	defer leave()
	if streaming := s.stream(client); streaming != nil {
		return streaming.List(ctx, opts, item)
	}
	list, err := client.List(ctx, opts)
	if err != nil {
		return ListMeta{}, err
	}
	return readList(list, item)
}

func (s *clientSource[T, L]) Watch(ctx context.Context, opts metav1.ListOptions) (Stream[T], error) {
	client, err := s.prepare(&opts)
	if err != nil {
		return nil, err
	}
	if s.limiter == nil || !isListing(opts) {
		return s.watch(ctx, client, opts)
	}
	leave, err := s.limiter.enter(ctx)
	if err != nil {
		return nil, err
	}
	stream, err := s.watch(ctx, client, opts)
	if err != nil {
		leave()
		return nil, err
	}
	return &limitedStream[T]{Stream: stream, leave: leave}, nil
}

func (s *clientSource[T, L]) watch(ctx context.Context, client Client[L], opts metav1.ListOptions) (Stream[T], error) {
	if streaming := s.stream(client); streaming != nil {
		return streaming.Watch(ctx, opts)
	}
	w, err := client.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return newStream[T](w, s.expected), nil
}

func (s *clientSource[T, L]) prepare(opts *metav1.ListOptions) (Client[L], error) {
	if s.tweak != nil {
		s.tweak(opts)
	}
	client := s.resource()
	if client == nil {
		return nil, errNoClient
	}
	return client, nil
}

// Written asks the client what was written through it, see [Writing].
func (s *clientSource[T, L]) Written(namespace string, after uint64) (Written, bool) {
	if writing, ok := any(s.resource()).(Writing); ok {
		return writing.Written(namespace, after)
	}
	return Written{}, false
}

// stream is the streaming source of client, nil if it has none.
func (s *clientSource[T, L]) stream(client Client[L]) Source[T] {
	if streaming, ok := client.(Streaming[T]); ok && s.decoding != nil {
		return streaming.ListWatchSource(s.decoding)
	}
	return nil
}
