package listwatch

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limiter lets only so many lists be read at a time: what is decoded and not yet
// committed, which is what makes a start take more memory than what follows, is
// then that of so many collections at most. A page counts while it is read, a
// list that is streamed as a watch until its end bookmark. So a list that fails
// is in nobody's way while its reflector waits to try again.
//
// It is safe for concurrent use, and for several sources to share.
type Limiter struct{ places chan struct{} }

// NewLimiter returns a limiter to n lists at a time. It panics if n isn't
// positive.
func NewLimiter(n int) *Limiter {
	if n <= 0 {
		panic("listwatch: a limiter must let something through")
	}
	return &Limiter{places: make(chan struct{}, n)}
}

// enter waits for a place, and returns what gives it back, any number of times.
// A nil limiter has places for all.
func (l *Limiter) enter(ctx context.Context) (leave func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	select {
	case l.places <- struct{}{}:
		return sync.OnceFunc(func() { <-l.places }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// limitedStream gives its place back at the end of the initial events, at the
// latest when it is stopped.
type limitedStream[T any] struct {
	Stream[T]
	leave func()
}

func (s *limitedStream[T]) Next(ctx context.Context) (Event[T], error) {
	event, err := s.Stream.Next(ctx)
	if err != nil || event.InitialEventsEnd {
		s.leave()
	}
	return event, err
}

func (s *limitedStream[T]) Stop() {
	s.Stream.Stop()
	s.leave()
}

// isListing says whether a watch begins with all that there is.
func isListing(opts metav1.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}
