package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// Limiter bounds how many lists are read at a time by the sources that share it. Programs need more memory
// at the start than later because of lists that are decoded and not yet in the cache. A page counts while it
// is read, a watch-list until its end bookmark. A list that has failed doesn't count while its reflector
// backs off.
//
// With [Limiter.WithBudget] it also bounds the bytes that are decoded.
//
// It is safe for concurrent use.
type Limiter struct {
	places chan struct{}
	budget *budget
}

// anyNumber of lists is more than a program has.
const anyNumber = 1 << 16

// NewLimiter returns a limiter for n lists at a time, or for any number if n is zero, which is of use with a
// budget. It panics if n is negative.
func NewLimiter(n int) *Limiter {
	switch {
	case n < 0:
		panic("listwatch: the limit of lists must not be negative")
	case n == 0:
		n = anyNumber
	}
	return &Limiter{places: make(chan struct{}, n)}
}

// WithBudget also limits how many bytes of incomplete lists are decoded at a time, over all sources that
// share l. It returns l, which must not be in use yet. It panics if bytes isn't positive.
//
// An item counts by the size of its text, JSON or protobuf. In memory it takes 1 to 6 times as much. Items
// that are taken from the cache don't count, nor do sources that don't stream.
//
// While the budget is exceeded, sources wait before they decode another item. The list that has held bytes
// for the longest never waits, so every list ends, even one that is larger than the budget. The budget can be
// exceeded by that list, and by one item of each other list. A list releases its bytes and its place when it
// ends, fails, panics or is stopped, and when its context is done. Between its pages it keeps both: a caller
// that reads pages itself and stops halfway must end the context, and a caller that alternates between the
// pages of two sources in one goroutine may deadlock.
//
// A source that waits reads nothing from its connection. Its informer is in the state informer.Waiting.
// docs/memory.md lists the sizes to expect and the timeouts that matter.
func (l *Limiter) WithBudget(bytes int64) *Limiter {
	if bytes <= 0 {
		panic("listwatch: the budget must be positive")
	}
	l.budget = &budget{bytes: bytes}
	return l
}

// Held returns how many bytes currently count against the budget, or 0 without a budget.
func (l *Limiter) Held() int64 {
	if l.budget == nil {
		return 0
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	return l.budget.held
}

// enter waits for a place. A nil limiter has places for all, and returns no lease.
func (l *Limiter) enter(ctx context.Context) (*lease, error) {
	if l == nil {
		return nil, nil
	}
	select {
	case l.places <- struct{}{}:
		return &lease{limiter: l}, nil
	default:
	}
	defer sources.Waits(ctx)()
	select {
	case l.places <- struct{}{}:
		return &lease{limiter: l}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// limitedStream ends its lease at the end of the initial events, at the latest when it
// is stopped.
type limitedStream struct {
	sources.Stream
	lease *lease
}

func (s *limitedStream) Next(ctx context.Context) (sources.Event, error) {
	event, err := s.Stream.Next(ctx)
	if err != nil || event.InitialEventsEnd {
		s.lease.end()
	}
	return event, err
}

func (s *limitedStream) Stop() {
	s.Stream.Stop()
	s.lease.end()
}

// isListing reports whether a watch begins with all existing objects.
func isListing(opts metav1.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}
