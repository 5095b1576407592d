// Package transport hands the responses to a source's requests to the source, whatever client sends the
// requests: the source marks them in their context, and a transport in the client's HTTP client recognises
// the mark.
package transport

import (
	"cmp"
	"context"
	"io"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/klog/v2"
)

// Wrap is listwatch.Wrap.
func Wrap(next http.RoundTripper) http.RoundTripper {
	return WrapFor(new(http.Client), next)
}

// WrapFor is Wrap for the requests of a client, of which other transports may have learned what its server
// refuses.
func WrapFor(client *http.Client, next http.RoundTripper) http.RoundTripper {
	return &transport{cmp.Or(next, http.DefaultTransport), client}
}

type transport struct {
	next http.RoundTripper
	// client is the one whose requests these are, or stands for the clients with this transport.
	client *http.Client
}

// WrappedRoundTripper returns the next transport, see
// [k8s.io/apimachinery/pkg/util/net.RoundTripperWrapper].
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections closes those of the next transport.
func (t *transport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.next) }

// Exchange is one call of a list or watch function, which may send any number of requests, also at the same
// time.
type Exchange interface {
	// Prepare may replace the header of a request that is to be sent. It returns whether the server should be
	// asked to leave metadata.managedFields out of its response.
	Prepare(req *http.Request) (drop bool)
	// Sends reports that a transport is about to send a request, and whether it asks for that. A request that
	// a server refuses for this reason is sent again.
	Sends(req *http.Request, drop bool)
	// Answered reports the last response.
	Answered(*Answer)
	// Left reports why the transport doesn't read the last response.
	Left(reason string)
	// Take returns what replaces the body of a successful response, nil to keep it. The
	// replacement closes the body.
	Take(req *http.Request, contentType string, body io.ReadCloser) io.ReadCloser
}

// exchangeKey is the key of an Exchange in a context.
type exchangeKey struct{}

// During returns a context for the requests of an exchange. A nil x removes the exchange of ctx.
func During(ctx context.Context, x Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// bodiesAreLogged is the level at which client-go logs the bodies of responses.
const bodiesAreLogged = 8

// RoundTrip sends the request with the next transport.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	x, _ := ctx.Value(exchangeKey{}).(Exchange)
	if x == nil {
		return t.next.RoundTrip(req)
	}
	resp, err := t.send(req, x)
	if err != nil {
		return resp, err
	}
	var used Credentials
	if resp.Request != nil { // It has the headers that the transports below have added.
		used = credentialsOf(resp.Request)
		used.hideInHeader(resp.Header)
	}
	resp.Request = req
	x.Answered(answerOf(resp, used))
	switch encoding := resp.Header.Get("Content-Encoding"); {
	case req.Method != http.MethodGet, resp.StatusCode != http.StatusOK, resp.Body == nil:
	case encoding != "":
		x.Left("the response has the content encoding " + encoding)
	case klog.FromContext(ctx).V(bodiesAreLogged).Enabled():
		x.Left("the log shows the bodies of responses")
	default:
		if body := x.Take(req, resp.Header.Get("Content-Type"), resp.Body); body != nil {
			resp.Body, resp.ContentLength = body, -1
			resp.Header.Del("Content-Length")
		}
	}
	return resp, nil
}

// send sends a request of an exchange, and returns the response to read.
func (t *transport) send(req *http.Request, x Exchange) (*http.Response, error) {
	// Transports below this one must not see the exchange.
	sent := req.WithContext(During(req.Context(), nil))
	drop := x.Prepare(sent) && sent.Body == nil && !refused(t.client, sent.URL.Host)
	plain := sent.Header
	if drop {
		sent.Header, drop = withDrop(plain)
	}
	x.Sends(sent, drop)
	resp, err := t.next.RoundTrip(sent)
	if !drop || err != nil || resp.StatusCode != http.StatusNotAcceptable {
		return resp, err
	}
	rememberRefusal(t.client, sent.URL.Host)
	if resp.Body != nil {
		resp.Body.Close()
	}
	again := sent.WithContext(sent.Context())
	again.Header = plain
	x.Sends(again, false)
	return t.next.RoundTrip(again)
}
