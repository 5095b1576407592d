package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// streamer adds the source that informers read from, see
// [listwatch.Streaming].
type streamer[T any, L runtime.Object] struct {
	source func(*listwatch.Decoding[T]) listwatch.Source[T]
}

// ListWatchSource returns a source that decodes objects as they arrive. It is
// for informers; those of one collection share a decoding.
func (s *streamer[T, L]) ListWatchSource(decoding *listwatch.Decoding[T]) listwatch.Source[T] {
	return s.source(decoding)
}

func newStreamer[TV any, L runtime.Object, T interface{ *TV }](plain plainClient[L]) streamer[T, L] {
	return streamer[T, L]{source: func(decoding *listwatch.Decoding[T]) listwatch.Source[T] {
		// T is *TV, which type parameters can't be told to be assignable.
		source := listwatch.FromREST[TV](listwatch.RESTResource[L]{
			Client:  plain.at.rest,
			Request: plain.at.collection,
			Plain:   &plain,
		}, any(decoding).(*listwatch.Decoding[*TV]))
		return any(source).(listwatch.Source[T])
	}}
}

// plainClient lists and watches in one piece.
type plainClient[L runtime.Object] struct {
	lister[L]
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func (c plainClient[L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.watch(ctx, opts)
}
