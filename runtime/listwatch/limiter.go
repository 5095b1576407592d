package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limiter lets only so many lists be read at a time: what is decoded and not yet
// committed, which is what makes a start take more memory than what follows, is
// then that of so many collections at most. A page counts while it is read, a
// list that is streamed as a watch until its end bookmark. So a list that fails
// is in nobody's way while its reflector waits to try again.
//
// With a budget, see [Limiter.WithBudget], it also lets only so much be decoded.
//
// It is safe for concurrent use, and for several sources to share.
type Limiter struct {
	places chan struct{}
	budget *budget
}

// NewLimiter returns a limiter to n lists at a time. It panics if n isn't
// positive.
func NewLimiter(n int) *Limiter {
	if n <= 0 {
		panic("listwatch: a limiter must let something through")
	}
	return &Limiter{places: make(chan struct{}, n)}
}

// WithBudget gives l a budget of so many bytes, and returns l, which isn't in use
// yet. It panics if bytes isn't positive.
//
// What lists hold counts by the size of the text, JSON or protobuf, that their
// items were decoded from. The objects in memory are larger, since they have room
// for all the fields that the text leaves out: a custom resource of 5 KB of JSON
// takes about as much, a Pod with one container 2 to 3 times its JSON and 3 to 6
// times its protobuf, where the larger numbers are for one without managedFields.
// Items that a relist takes from the cache as they are count nothing, though they
// wait as others do, nor does what a source doesn't stream itself, as that of a fake
// or a wrapped client: there only the number of lists is limited.
//
// While the lists of all sources that share l hold more than the budget, a source
// waits before it decodes another item, unless its list is the senior, the one
// that has held something for the longest: that always goes on, so that lists end,
// and one larger than the budget comes through. So the budget is exceeded by the
// senior's list, and by an item for each of the others. A list gives back what it
// holds, its place as well, when its last page is read or its end bookmark is
// there, when it fails, panics or is stopped, and when its context is done. With a
// budget it keeps both between its pages, until its source begins another list:
// whoever reads pages by hand and stops halfway has to end their context, and
// whoever reads those of two sources by turns, in one goroutine, may wait for ever.
//
// A senior that hangs stops all the others. A streamed list is bounded by
// InitialEventsTimeout of [github.com/kubewright/kubewright/runtime/informer.Tuning],
// a page of another by TimeoutSeconds, which a function that tweaks list options can
// set where it is nil: for a watch it isn't. A connection that died is noticed by
// client-go's health checks of HTTP/2.
//
// A source that waits reads nothing, so that the server has to wait as well, with
// what the connection buffers: for HTTP/2 up to 4 MB a stream. Servers and proxies
// may lose patience as with any slow reader, API servers with a LIST after a
// minute by default, and timeouts of the client go on, but for InitialEventsTimeout;
// the list then fails and its reflector begins again. Together with few lists at a
// time few of them wait. [WithWaits] tells who does.
func (l *Limiter) WithBudget(bytes int64) *Limiter {
	if bytes <= 0 {
		panic("listwatch: a budget must have something to spend")
	}
	l.budget = &budget{bytes: bytes}
	return l
}

// Held is how many bytes count against the budget now, zero without one.
func (l *Limiter) Held() int64 {
	if l.budget == nil {
		return 0
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	return l.budget.held
}

// enter waits for a place. A nil limiter has places for all, and no leases.
func (l *Limiter) enter(ctx context.Context) (*lease, error) {
	if l == nil {
		return nil, nil
	}
	select {
	case l.places <- struct{}{}:
		return &lease{limiter: l}, nil
	default:
	}
	defer waits(ctx)()
	select {
	case l.places <- struct{}{}:
		return &lease{limiter: l}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// limitedStream gives what it holds back at the end of the initial events, at the
// latest when it is stopped.
type limitedStream struct {
	Stream
	lease *lease
}

func (s *limitedStream) Next(ctx context.Context) (Event, error) {
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

// isListing says whether a watch begins with all that there is.
func isListing(opts metav1.ListOptions) bool {
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}
