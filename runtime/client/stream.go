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
	plain plainClient[L]
}

// ListWatchSource returns a source that decodes objects as they arrive. It is
// for informers; those of one collection share a decoding.
func (s *streamer[T, L]) ListWatchSource(decoding *listwatch.Decoding[T]) listwatch.Source[T] {
	return listwatch.FromREST(listwatch.RESTResource[L]{
		Client:  s.plain.at.rest,
		Request: s.plain.at.collection,
		Plain:   &s.plain,
	}, decoding)
}

// plainClient lists and watches in one piece.
type plainClient[L runtime.Object] struct{ lister[L] }

func (c plainClient[L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.at.watch(ctx, opts)
}
