package listwatch

import (
	"context"
	"io"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/klog/v2"
)

// Wrap returns a transport that reads lists and watches as streams for the sources of this
// package, whatever client sends their requests. Install it with
// [k8s.io/client-go/rest.Config.Wrap], before the clients are made:
//
//	config.Wrap(listwatch.Wrap)
//
// It is then used by the informers of packages dynamicinformer and metadatainformer, and by
// the lister-watchers that [Streamed] returns. Generated clients and client-go's typed clients
// need no call: their informers install the transport.
//
// The transport recognises a request of a source by a value in its context, and passes every
// other request and its response on unchanged. It reads the body of a successful list
// item by item, and gives the client the same list without its items. It reads the events of
// a watch, and gives the client a body that is silent until the watch is stopped. So the
// client still handles authentication, limits, retries, warnings, errors and pages. Responses
// that it can't read are passed on: those of other kinds than the expected ones, in other
// encodings than JSON and protobuf, compressed ones that next has not decompressed, and those
// that are logged with their bodies (klog's level 8). If a request passes two such transports,
// the first one reads the response.
//
// A nil next is [http.DefaultTransport].
func Wrap(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{next}
}

type transport struct{ next http.RoundTripper }

// WrappedRoundTripper returns the next transport, see
// [k8s.io/apimachinery/pkg/util/net.RoundTripperWrapper].
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections closes those of the next transport.
func (t *transport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.next) }

// exchange is the value in the context of a source's requests. It is one call of a list or
// watch function, which may send any number of requests, also at the same time.
type exchange interface {
	// see reports that a transport sees a request. reason is why it doesn't read the response,
	// "" if it may.
	see(reason string)
	// answered reports the last response.
	answered(*answer)
	// take returns what replaces the body of a successful response, nil to keep it. The
	// replacement closes the body.
	take(req *http.Request, contentType string, body io.ReadCloser) io.ReadCloser
}

// exchangeKey is the key of an exchange in a context.
type exchangeKey struct{}

// during returns a context for the requests of an exchange. A nil x removes the exchange of ctx.
func during(ctx context.Context, x exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// bodiesAreLogged is the level at which client-go logs the bodies of responses.
const bodiesAreLogged = 8

// RoundTrip sends the request with the next transport.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	x, _ := ctx.Value(exchangeKey{}).(exchange)
	if x == nil {
		return t.next.RoundTrip(req)
	}
	noteRequest(req)
	x.see("")
	// Transports below this one must not see the exchange.
	sent := req.WithContext(during(ctx, nil))
	if call, ok := x.(*metadataCall); ok {
		call.ask(sent)
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return resp, err
	}
	var used credentials
	if resp.Request != nil { // It has the headers that the transports below have added.
		used = credentialsOf(resp.Request)
		used.hideInHeader(resp.Header)
	}
	resp.Request = req
	x.answered(answerOf(resp, used))
	switch encoding := resp.Header.Get("Content-Encoding"); {
	case req.Method != http.MethodGet, resp.StatusCode != http.StatusOK, resp.Body == nil:
	case encoding != "":
		x.see("the response has the content encoding " + encoding)
	case klog.FromContext(ctx).V(bodiesAreLogged).Enabled():
		x.see("the log shows the bodies of responses")
	default:
		if body := x.take(req, resp.Header.Get("Content-Type"), resp.Body); body != nil {
			resp.Body, resp.ContentLength = body, -1
			resp.Header.Del("Content-Length")
		}
	}
	return resp, nil
}
