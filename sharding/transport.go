package sharding

import (
	"fmt"
	"net/http"
)

// FencingTransport refuses writes of work that its member may no longer do. A client that has it, by
//
//	config.Wrap(sharding.FencingTransport)
//
// is safe to use in [Member.Do], even if the work ignores the end of its context. A write (all methods but
// GET, HEAD and OPTIONS) in the context of work is checked as it is sent. It fails with [ErrNotOwned] if the
// member may no longer act on the range, or if the work has ended. Requests in other contexts pass.
//
// A write that passed before the member's Lease ended may arrive at the server afterwards.
func FencingTransport(next http.RoundTripper) http.RoundTripper { return fenced{next} }

type fenced struct{ next http.RoundTripper }

func (f fenced) RoundTrip(request *http.Request) (*http.Response, error) {
	switch request.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "":
		return f.next.RoundTrip(request)
	}
	if r, ok := request.Context().Value(runKey{}).(*run); ok {
		if _, owned := r.owned(); !owned {
			if request.Body != nil {
				_ = request.Body.Close() // Nobody reads it.
			}
			return nil, fmt.Errorf("sharding: %s: %s isn't sent: %w", r.value, request.Method, ErrNotOwned)
		}
	}
	return f.next.RoundTrip(request)
}

// WrappedRoundTripper is how client-go finds the transport below.
func (f fenced) WrappedRoundTripper() http.RoundTripper { return f.next }
