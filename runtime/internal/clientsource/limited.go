package clientsource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/limits"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// limitedStream ends its slot at the end of the initial events, at the latest when it
// is stopped.
type limitedStream struct {
	sources.Stream
	slot *limits.Slot
}

func (s *limitedStream) Next(ctx context.Context) (sources.Event, error) {
	event, err := s.Stream.Next(ctx)
	if err != nil || event.InitialEventsEnd {
		s.slot.End()
	}
	return event, err
}

func (s *limitedStream) Stop() {
	s.Stream.Stop()
	s.slot.End()
}

// isListing reports whether a watch begins with all existing objects.
func isListing(opts metav1.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}
