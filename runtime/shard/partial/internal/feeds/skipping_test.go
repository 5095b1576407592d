package feeds

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// skippingSource skips objects that aren't wanted, as [sources.WithWanted] says of sources that decode
// responses as they arrive, if skips is set.
type skippingSource struct {
	sources.Source
	skips *bool
}

// IsWatchListSemanticsUnSupported is that of the source.
func (s *skippingSource) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(s.Source)
}

func (s *skippingSource) wanted(ctx context.Context) func(obj any) bool {
	wanted := sources.Wanted(ctx)
	return func(obj any) bool {
		o, ok := obj.(metav1.Object)
		return !ok || !*s.skips || wanted(o.GetNamespace(), string(o.GetUID()))
	}
}

func (s *skippingSource) List(
	ctx context.Context, opts metav1.ListOptions, to sources.Receiver,
) (sources.ListMeta, error) {
	return s.Source.List(ctx, opts, skippingReceiver{to, s.wanted(ctx)})
}

type skippingReceiver struct {
	sources.Receiver
	wanted func(obj any) bool
}

func (r skippingReceiver) Add(obj any) error {
	if !r.wanted(obj) {
		return nil
	}
	return r.Receiver.Add(obj)
}

func (s *skippingSource) Watch(ctx context.Context, opts metav1.ListOptions) (sources.Stream, error) {
	stream, err := s.Source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return skippingStream{stream, s.wanted(ctx)}, nil
}

type skippingStream struct {
	sources.Stream
	wanted func(obj any) bool
}

func (s skippingStream) Next(ctx context.Context) (sources.Event, error) {
	e, err := s.Stream.Next(ctx)
	if err == nil && e.Object != nil && !s.wanted(e.Object) {
		e = sources.Event{Type: watch.Bookmark, ResourceVersion: e.ResourceVersion}
	}
	return e, err
}
