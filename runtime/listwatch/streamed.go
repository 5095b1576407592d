package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// StreamedListerWatcher is the lister-watcher that [Streamed] returns. It implements
// [k8s.io/client-go/tools/cache.ListerWatcherWithContext].
type StreamedListerWatcher struct {
	cache.ListerWatcher
	scheme *runtime.Scheme
}

// Streamed returns a lister-watcher like lw whose lists and watches are read as streams by informers of this
// project: those of runtime/cache, and of controller-runtime's caches with kwctrl. For all other
// callers it behaves like lw.
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
func Streamed(lw cache.ListerWatcher, scheme *runtime.Scheme) *StreamedListerWatcher {
	return &StreamedListerWatcher{lw, scheme}
}

// ListWithContext calls lw's ListWithContext, or List if it has none.
func (s *StreamedListerWatcher) ListWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (runtime.Object, error) {
	return cache.ToListerWithContext(s.ListerWatcher).ListWithContext(ctx, opts)
}

// WatchWithContext calls lw's WatchWithContext, or Watch if it has none.
func (s *StreamedListerWatcher) WatchWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (watch.Interface, error) {
	return cache.ToWatcherWithContext(s.ListerWatcher).WatchWithContext(ctx, opts)
}

// IsWatchListSemanticsUnSupported reports what lw reports, see
// [k8s.io/client-go/util/watchlist.DoesClientNotSupportWatchListSemantics].
func (s *StreamedListerWatcher) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(s.ListerWatcher)
}

// Scheme returns the scheme in which informers look for the kinds of the objects.
func (s *StreamedListerWatcher) Scheme() *runtime.Scheme { return s.scheme }
