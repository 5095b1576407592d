package fault

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// exchange is one request on its way through the proxy, until its response is read.
type exchange struct {
	proxy   *Proxy
	request Request
	step    Step
	http    *http.Request
	conn    *conn // nil without one
	begun   time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc
	calmed chan struct{} // closed by calm
	calm   func()        // of a sync.Once

	mu       sync.Mutex
	silenced bool
	timers   []*time.Timer
}

func newExchange(p *Proxy, req *http.Request, c *conn) *exchange {
	x := &exchange{proxy: p, conn: c, begun: time.Now(), calmed: make(chan struct{})}
	x.calm = sync.OnceFunc(func() { close(x.calmed) })
	x.ctx, x.cancel = context.WithCancelCause(req.Context())
	x.http = req.WithContext(x.ctx)
	return x
}

// pass sends the request to the backend. Interrupts end the body of the response. The body of a watch comes
// one whole event at a time.
func (x *exchange) pass() (*http.Response, error) {
	resp, err := x.proxy.backend.RoundTrip(x.http)
	if err != nil {
		return nil, x.cause(err)
	}
	if x.request.Kind&Watches != 0 && resp.StatusCode == http.StatusOK {
		if format, ok := formatOf(resp.Header); ok {
			resp.Body = &stream{x: x, format: format, frames: format.read(resp.Body), backend: resp.Body}
			return resp, nil
		}
	}
	resp.Body = &plainBody{x: x, ReadCloser: resp.Body}
	return resp, nil
}

// cause returns why the exchange was interrupted, or err if it wasn't.
func (x *exchange) cause(err error) error {
	if cause := context.Cause(x.ctx); cause != nil {
		return cause
	}
	return err
}

// wait waits for d, or until the proxy is calmed. It fails if the exchange ends first.
func (x *exchange) wait(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.calmed:
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
	return nil
}

// calmNow reports whether the proxy is calmed.
func (x *exchange) calmNow() bool {
	select {
	case <-x.calmed:
		return true
	default:
		return false
	}
}

// silence waits until the watch's timeout; for other requests, until that of the longest watch. Calm doesn't
// end it.
func (x *exchange) silence() error {
	x.mu.Lock()
	x.silenced = true
	x.mu.Unlock()
	patience := watchTimeout
	if s, err := strconv.Atoi(x.http.URL.Query().Get("timeoutSeconds")); err == nil {
		patience = time.Duration(s) * time.Second
	}
	timer := time.NewTimer(time.Until(x.begun.Add(patience)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return errReset
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
}

// isSilenced reports whether silence was called.
func (x *exchange) isSilenced() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.silenced
}

// later calls f after d, unless the exchange ends first.
func (x *exchange) later(d time.Duration, f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.timers = append(x.timers, time.AfterFunc(d, f))
}

// endLater ends the exchange after the time of the step, unless the proxy is calmed first.
func (x *exchange) endLater(with *ending) {
	x.later(x.step.For, func() {
		if !x.calmNow() {
			x.cancel(with)
		}
	})
}

// leave ends the exchange. It may be called again.
func (x *exchange) leave() {
	x.cancel(context.Canceled)
	x.mu.Lock()
	for _, timer := range x.timers {
		timer.Stop()
	}
	x.timers = nil
	x.mu.Unlock()
	x.proxy.left(x)
}

// plainBody is a body that passes unchanged.
type plainBody struct {
	x *exchange
	io.ReadCloser
}

func (b *plainBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.x.cause(err)
	}
	return n, err
}

// lastBody is the body that a client gets. It ends the exchange, and converts errors to those that the client
// would see. Read and Close may be called at the same time.
type lastBody struct {
	x *exchange
	io.ReadCloser
	convert func(error) error
}

func (b *lastBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.x.leave()
		err = b.convert(err)
	}
	return n, err
}

func (b *lastBody) Close() error {
	b.x.leave()
	return b.ReadCloser.Close()
}
