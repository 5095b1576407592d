package sharding

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/bubble"
)

// sent is a transport that counts requests by method.
type sent map[string]int

func (s sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s[r.Method]++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// body is a request's body that records whether it was closed.
type body struct {
	io.Reader
	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// TestTransport: writes of work pass while the member may act, and are refused once its Lease, or the work,
// has ended. Reads pass, and so do writes in other contexts.
func TestTransport(t *testing.T) {
	calmly(t, func(t *testing.T, m *model) {
		r := m.join()
		m.settled()
		below := sent{}
		transport := FencingTransport(below)
		passes := func(ctx context.Context, method string, want bool) {
			t.Helper()
			before, content := below[method], &body{Reader: strings.NewReader("{}")}
			request, err := http.NewRequestWithContext(ctx, method, "http://server/path", content)
			if err != nil {
				t.Fatal(err)
			}
			_, err = transport.RoundTrip(request)
			if want != (err == nil) || want != (below[method] > before) {
				t.Errorf("%s: error %v, %d sent", method, err, below[method]-before)
			}
			if !want && (!errors.Is(err, ErrNotOwned) || !content.closed) {
				t.Errorf("%s: error %v, the body was closed: %t", method, err, content.closed)
			}
		}
		writes := []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
		var working context.Context
		err := r.Do(t.Context(), m.names[0], func(ctx context.Context, owned Owned) error {
			working = ctx
			for _, method := range writes {
				passes(ctx, method, true)
			}
			if now, ok := OwnedFrom(ctx); !ok || now != owned {
				t.Errorf("OwnedFrom returns %s, %t; Do has passed %s", now, ok, owned)
			}
			m.server.setDown(true)
			bubble.Advance(leaseDuration)
			if !errors.Is(context.Cause(ctx), ErrNotOwned) {
				t.Errorf("the context ended with %v", context.Cause(ctx))
			}
			for _, method := range writes {
				passes(context.WithoutCancel(ctx), method, false)
			}
			if _, ok := OwnedFrom(ctx); ok {
				t.Error("OwnedFrom returns a range that the member may not act on")
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
				passes(ctx, method, true)
			}
			passes(t.Context(), http.MethodPut, true)
			m.server.setDown(false)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		m.settled()
		passes(context.WithoutCancel(working), http.MethodPut, false)
		if _, ok := OwnedFrom(t.Context()); ok {
			t.Error("OwnedFrom returns a range for a context without work")
		}
	})
}
