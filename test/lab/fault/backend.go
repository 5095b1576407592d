package fault

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"k8s.io/client-go/rest"
)

// Backend returns a backend that sends requests to the API server of config. It uses the credentials of
// config in place of those of the request.
func Backend(config *rest.Config) (http.RoundTripper, error) {
	config = rest.CopyConfig(config)
	config.DisableCompression = true // events are edited as they are on the wire
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	return &remote{host, transport}, nil
}

type remote struct {
	host      *url.URL
	transport http.RoundTripper
}

func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host, req.RequestURI = r.host.Scheme, r.host.Host, "", ""
	for _, name := range []string{"Authorization", "Accept-Encoding", "Connection"} {
		req.Header.Del(name)
	}
	return r.transport.RoundTrip(req)
}

// Handler returns a backend that calls h for each request, in a goroutine that ends when h returns. The
// request's context ends when the body of the response is closed. A write by h blocks until it has been read.
func Handler(h http.Handler) http.RoundTripper { return handler{h} }

type handler struct{ http.Handler }

func (h handler) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	req = req.Clone(ctx)
	req.RequestURI = req.URL.RequestURI()
	if req.Body == nil {
		req.Body = http.NoBody
	}
	r, w := io.Pipe()
	answer := &answering{header: http.Header{}, body: w, begun: make(chan struct{})}
	body := &answerBody{PipeReader: r, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(body.done)
		answer.serve(h, req)
	}()
	select {
	case <-answer.begun:
	case <-ctx.Done():
		body.Close()
		return nil, context.Cause(ctx)
	}
	return &http.Response{
		Status:     strconv.Itoa(answer.code) + " " + http.StatusText(answer.code),
		StatusCode: answer.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.sent, Body: body, ContentLength: -1, Request: req,
	}, nil
}

// answering is the http.ResponseWriter of a handler.
type answering struct {
	header http.Header
	body   *io.PipeWriter

	once  sync.Once
	begun chan struct{} // closed when code and sent are valid
	code  int
	sent  http.Header
}

// serve calls the handler. The response is incomplete if the context is done or the handler panics with
// http.ErrAbortHandler. Any other panic goes on.
func (a *answering) serve(h http.Handler, req *http.Request) {
	defer func() {
		a.WriteHeader(http.StatusOK)
		err := req.Context().Err()
		if r := recover(); r == http.ErrAbortHandler {
			err = io.ErrUnexpectedEOF
		} else if r != nil {
			panic(r)
		}
		a.body.CloseWithError(err)
	}()
	h.ServeHTTP(a, req)
}

func (a *answering) Header() http.Header { return a.header }

func (a *answering) WriteHeader(code int) {
	a.once.Do(func() {
		a.code, a.sent = code, a.header.Clone()
		close(a.begun)
	})
}

func (a *answering) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

func (a *answering) Flush() { a.WriteHeader(http.StatusOK) }

// answerBody is the body that a handler writes.
type answerBody struct {
	*io.PipeReader
	cancel func()
	done   chan struct{}
}

// Close ends the handler's context and waits for the handler.
func (b *answerBody) Close() error {
	b.cancel()
	b.PipeReader.Close()
	<-b.done
	return nil
}
