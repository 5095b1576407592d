//go:build linux

package main

import (
	"fmt"
	"net/http"

	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// stamps has two transports that write headers: outer runs before the member's own transport checks a
// request, inner after it.
type stamps struct {
	member   string
	careless bool
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (s *stamps) outer(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet {
			return next.RoundTrip(request)
		}
		looked := wire.Now()
		work, ok := request.Context().Value(workKey{}).(*work)
		if !ok {
			return next.RoundTrip(request)
		}
		owned, acts := work.owned, true
		if !s.careless {
			owned, acts = sharding.OwnedFrom(request.Context())
		}
		if acts { // otherwise the member's transport must refuse the request
			request = request.Clone(request.Context())
			request.Header.Set(wire.Looked, looked.String())
			request.Header.Set(wire.Value, work.value)
			request.Header.Set(wire.InGroup, wire.Group)
			request.Header.Set(wire.Range, fmt.Sprintf("%x-%x", owned.First, owned.Last))
			request.Header.Set(wire.Token, fmt.Sprint(owned.Token))
		}
		return next.RoundTrip(request)
	})
}

func (s *stamps) inner(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		request = request.Clone(request.Context())
		request.Header.Set(wire.Member, s.member)
		request.Header.Set(wire.Sent, wire.Now().String())
		return next.RoundTrip(request)
	})
}

// work describes a reconcile. It is in its context.
type work struct {
	value string
	owned sharding.Owned
}

type workKey struct{}
