package runtimetest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ListerWatcher returns a ListerWatcher of the server, for client-go's informers.
func (s *Server[T, L]) ListerWatcher() cache.ListerWatcher { return listerWatcher[T, L]{s} }

type listerWatcher[T Object, L runtime.Object] struct{ server *Server[T, L] }

var _ cache.ListerWatcherWithContext = listerWatcher[*metav1.PartialObjectMetadata,
	*metav1.PartialObjectMetadataList]{}

func (l listerWatcher[T, L]) ListWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (runtime.Object, error) {
	list, err := l.server.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (l listerWatcher[T, L]) WatchWithContext(
	ctx context.Context, opts metav1.ListOptions,
) (watch.Interface, error) {
	return l.server.Watch(ctx, opts)
}

func (l listerWatcher[T, L]) List(opts metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), opts)
}

func (l listerWatcher[T, L]) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), opts)
}

func (l listerWatcher[T, L]) IsWatchListSemanticsUnSupported() bool {
	return l.server.IsWatchListSemanticsUnSupported()
}
