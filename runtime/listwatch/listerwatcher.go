package listwatch

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// listerWatcher is client-go's cache.ListerWatcher. Clients import this package: with
// client-go's cache they would link more than all of their own code.
type listerWatcher interface {
	List(opts metav1.ListOptions) (runtime.Object, error)
	Watch(opts metav1.ListOptions) (watch.Interface, error)
}

// FromListerWatcher returns a source over lw, which has the methods of a
// [k8s.io/client-go/tools/cache.ListerWatcher]. Its methods that take a context are used if it has them;
// without them, a context can't interrupt it.
//
// example, if not nil, is an object of the expected type. If it is an *unstructured.Unstructured with
// apiVersion and kind, these are expected, too. Events with other objects are logged and dropped, as
// client-go's reflector does; items of lists aren't compared with it. The source reports that it doesn't
// support WatchList semantics if lw does.
func FromListerWatcher(lw listerWatcher, example any) Source {
	return &listerWatcherSource{lw: lw, expected: expect(example)}
}

type listerWatcherSource struct {
	lw       listerWatcher
	expected expectation
}

// IsWatchListSemanticsUnSupported asks the lister-watcher at each call, since it may not know when the source
// is made.
func (s *listerWatcherSource) IsWatchListSemanticsUnSupported() bool {
	return streamsNoLists(s.lw)
}

func (s *listerWatcherSource) List(
	ctx context.Context, opts metav1.ListOptions, item func(any) error,
) (ListMeta, error) {
	list, err := s.list(ctx, opts)
	if err != nil {
		return ListMeta{}, err
	}
	return readList(list, nil, item)
}

func (s *listerWatcherSource) Watch(ctx context.Context, opts metav1.ListOptions) (Stream, error) {
	w, err := s.watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return newStream(w, s.expected), nil
}

func (s *listerWatcherSource) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if lw, ok := s.lw.(interface {
		ListWithContext(context.Context, metav1.ListOptions) (runtime.Object, error)
	}); ok {
		return lw.ListWithContext(ctx, opts)
	}
	return s.lw.List(opts)
}

func (s *listerWatcherSource) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if lw, ok := s.lw.(interface {
		WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error)
	}); ok {
		return lw.WatchWithContext(ctx, opts)
	}
	return s.lw.Watch(opts)
}

// streamsNoLists reports whether a client says that it doesn't support WatchList
// semantics. It is client-go's util/watchlist, which would link all of client-go's cache.
func streamsNoLists(client any) bool {
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
