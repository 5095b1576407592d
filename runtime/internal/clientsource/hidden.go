package clientsource

import (
	"context"
	"io"

	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// hideInStream returns a stream without credentials in its errors.
func hideInStream(c transport.Credentials, s sources.Stream) sources.Stream {
	if len(c) == 0 {
		return s
	}
	return &hidingStream{s, c}
}

type hidingStream struct {
	sources.Stream
	credentials transport.Credentials
}

func (s *hidingStream) Next(ctx context.Context) (sources.Event, error) {
	event, err := s.Stream.Next(ctx)
	if err == io.EOF { // Most streams end with it.
		return event, err
	}
	return event, s.credentials.HideInError(err)
}
