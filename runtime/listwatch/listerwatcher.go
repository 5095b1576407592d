package listwatch

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// listerWatcher is client-go's cache.ListerWatcher. It is repeated here because clients
// import this package: client-go's cache is more code than all of their own.
type listerWatcher interface {
	List(opts metav1.ListOptions) (runtime.Object, error)
	Watch(opts metav1.ListOptions) (watch.Interface, error)
}

// FromListerWatcher returns a source over lw, which has the methods of a
// [k8s.io/client-go/tools/cache.ListerWatcher]. Its methods with a context are
// used where it has them; without them a context can't interrupt it. A list function that hasn't returned
// a second after the end of its context is left behind on its goroutine, and its list isn't used. For a
// watch function there is no such limit.
//
// example, if not nil, is an object of the expected type. If it is an
// *unstructured.Unstructured with apiVersion and kind, these are expected, too.
// Events with other objects are logged and dropped, as by client-go's reflector;
// items of lists aren't compared with example. The source reports that it doesn't
// support WatchList semantics if lw does.
//
// The source streams if [Streamed] made lw.
func FromListerWatcher(lw listerWatcher, example any) sources.Source {
	c := collection{
		list: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return listWithContext(ctx, lw, opts)
		},
		watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return watchWithContext(ctx, lw, opts)
		},
	}
	s := &source{
		collection: func() collection { return c },
		// lw is called each time: it may not know yet when the source is made, but only
		// when a reflector needs to know.
		lacksWatchList: func() bool { return lacksWatchList(lw) },
		expected:       expect(example),
		tally:          &tally{},
	}
	if streamed, ok := lw.(*streamedListerWatcher); ok {
		c.kinds, c.notStreamed = kindsInScheme(example, streamed.scheme)
		if t := s.expected.goType; t != nil && t.Kind() == reflect.Pointer {
			s.decodeWith(t, sources.Decoding{})
		}
	}
	return s
}

// streamedListerWatcher is what [Streamed] returns, with the methods of
// [k8s.io/client-go/tools/cache.ListerWatcherWithContext].
type streamedListerWatcher struct {
	lw     listerWatcher
	scheme *runtime.Scheme
}

// Streamed returns a [k8s.io/client-go/tools/cache.ListerWatcherWithContext] like lw whose lists and watches
// are read as streams by informers of this project: those of packages informer, cache and informers, and
// those that generated code makes. For all other callers it behaves like lw.
//
// By calling it you declare that lw returns what the server sends: its functions, and the client that they
// call, must not convert, default, filter or change objects, nor take a list from anywhere but the server.
// Like client-go's clients, lw must clear the kind of a watch's objects, unless they are unstructured.
//
// There are two more conditions. The functions of lw must pass on the context that they are called with:
// those of a [k8s.io/client-go/tools/cache.ListWatch] are ListWithContextFunc and WatchFuncWithContext. And
// the client's HTTP client must have the transport of [Wrap]. If one of the two isn't met, lw is read in one
// piece, and the informer's status reports that.
//
// The informer's example determines which objects are expected. For an example of a Go type, scheme must
// register the type and its list type; the example's own kind, if it has one, chooses among several kinds.
// Unstructured objects and metadata need no scheme. If the example is a [metav1.PartialObjectMetadata] with a
// kind, lw must give this kind to all objects, as controller-runtime's caches do, and so does the stream.
// Objects of other kinds are read in one piece; so are all objects if there is no example.
func Streamed(lw listerWatcher, scheme *runtime.Scheme) *streamedListerWatcher {
	return &streamedListerWatcher{lw, scheme}
}

// List calls lw's List.
func (s *streamedListerWatcher) List(opts metav1.ListOptions) (runtime.Object, error) {
	return s.lw.List(opts)
}

// Watch calls lw's Watch.
func (s *streamedListerWatcher) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return s.lw.Watch(opts)
}

// ListWithContext calls lw's ListWithContext, or List if it has none.
func (s *streamedListerWatcher) ListWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (runtime.Object, error) {
	return listWithContext(ctx, s.lw, opts)
}

// WatchWithContext calls lw's WatchWithContext, or Watch if it has none.
func (s *streamedListerWatcher) WatchWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (watch.Interface, error) {
	return watchWithContext(ctx, s.lw, opts)
}

// IsWatchListSemanticsUnSupported reports what lw reports, see
// [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics].
func (s *streamedListerWatcher) IsWatchListSemanticsUnSupported() bool { return lacksWatchList(s.lw) }

func listWithContext(ctx context.Context, lw listerWatcher, opts metav1.ListOptions) (runtime.Object, error) {
	if lw, ok := lw.(interface {
		ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error)
	}); ok {
		return lw.ListWithContext(ctx, opts)
	}
	return lw.List(opts)
}

func watchWithContext(
	ctx context.Context, lw listerWatcher, opts metav1.ListOptions,
) (watch.Interface, error) {
	if lw, ok := lw.(interface {
		WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error)
	}); ok {
		return lw.WatchWithContext(ctx, opts)
	}
	return lw.Watch(opts)
}

// lacksWatchList reports whether a client reports that it doesn't support WatchList
// semantics. It repeats client-go's util/watchlist, which would link all of client-go's cache.
func lacksWatchList(client any) bool {
	asked, ok := client.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && asked.IsWatchListSemanticsUnSupported()
}

// expect returns the expectation that an example stands for.
func expect(example any) expectation {
	e := expectation{goType: reflect.TypeOf(example)}
	if u, ok := example.(*unstructured.Unstructured); ok {
		if gvk := u.GroupVersionKind(); !gvk.Empty() {
			e.gvk = &gvk
		}
	}
	return e
}
