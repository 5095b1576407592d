package fault

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy passes requests on to a backend and makes faults happen to them. Its methods are safe for concurrent
// use. It works inside a bubble of synctest. It has no goroutines, unless it listens.
type Proxy struct {
	backend http.RoundTripper

	mu       sync.Mutex
	closed   bool
	plan     Plan
	counts   map[Request]int // without Nth
	trace    Script
	open     map[*exchange]struct{}
	episodes []*episode
	servers  []*Server
	past     map[string]past
}

// New returns a proxy for a backend. With a nil plan, no faults happen.
func New(backend http.RoundTripper, plan Plan) *Proxy {
	return &Proxy{
		backend: backend, plan: plan,
		counts: map[Request]int{}, open: map[*exchange]struct{}{}, past: map[string]past{},
	}
}

// Config returns a configuration for clients that call the proxy's RoundTrip, without a connection. Set its
// UserAgent to tell clients apart.
func (p *Proxy) Config() *rest.Config {
	return &rest.Config{Host: "http://fault.invalid", Transport: p, QPS: -1}
}

// Plan replaces the plan, for later requests. nil means no more faults.
func (p *Proxy) Plan(plan Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// Calm ends the plan and all faults that last for a while: a server that was gone is back, delayed requests
// proceed. A stream that was silenced, or lacks events, stays so: the informer has to notice.
func (p *Proxy) Calm() {
	p.mu.Lock()
	p.plan = nil
	episodes := p.episodes
	p.episodes = nil
	for x := range p.open {
		x.calm()
	}
	p.mu.Unlock()
	for _, e := range episodes {
		e.end()
	}
}

// Expire ends every open watch that isn't silenced with an error event 410, so that informers list again. It
// returns the number of these watches.
func (p *Proxy) Expire() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for x := range p.open {
		if x.request.Kind&Watches != 0 && !x.isSilenced() {
			x.cancel(errExpired)
			n++
		}
	}
	return n
}

// Cut resets every connection, and every request that has no connection.
func (p *Proxy) Cut() {
	p.mu.Lock()
	servers := slices.Clone(p.servers)
	for x := range p.open {
		x.cancel(errReset)
	}
	p.mu.Unlock()
	for _, s := range servers {
		s.cut()
	}
}

// Trace returns the faults that have happened so far, in order, as a script that makes them happen again.
func (p *Proxy) Trace() Script {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trace)
}

// Counts returns the number of requests of each sort, including those that met with a fault. Nth is zero in
// the keys.
func (p *Proxy) Counts() map[Request]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Count returns the number of requests that match a pattern. It ignores the pattern's Nth.
func (p *Proxy) Count(pattern Request) int {
	pattern.Nth = 0
	n := 0
	for r, count := range p.Counts() {
		if pattern.matches(r) {
			n += count
		}
	}
	return n
}

// Open returns the requests whose response is neither read to its end nor closed, and whose context isn't
// done.
func (p *Proxy) Open() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []Request
	for x := range p.open {
		if x.ctx.Err() == nil {
			open = append(open, x.request)
		}
	}
	return open
}

// Close ends every request and every server of the proxy, and returns when all its goroutines have ended.
// Later requests fail.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	servers := p.servers
	p.servers = nil
	for x := range p.open {
		x.cancel(errClosed)
	}
	p.mu.Unlock()
	p.Calm()
	for _, s := range servers {
		s.close()
	}
}

// RoundTrip answers as a connection to the API server would. Like http.Transport, it unpacks a gzipped
// response if the client didn't request compression.
func (p *Proxy) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := p.exchange(req, nil, seenBy)
	if err != nil {
		return nil, err
	}
	if resp.Header.Get("Content-Encoding") == "gzip" && req.Header.Get("Accept-Encoding") == "" {
		resp.Header.Del("Content-Encoding")
		resp.Body, resp.Uncompressed = &unpacked{packed: resp.Body}, true
	}
	return resp, nil
}

// exchange answers a request. It converts errors, including those of the body.
func (p *Proxy) exchange(
	req *http.Request, c *conn, convert func(error) error,
) (*http.Response, error) {
	x := newExchange(p, req, c)
	resp, err := p.enter(x)(x)
	if err != nil {
		err = convert(x.cause(err))
		x.leave()
		return nil, err
	}
	resp.Request = req
	resp.Body = &lastBody{x: x, ReadCloser: resp.Body, convert: convert}
	return resp, nil
}

// enter counts a request and decides what happens to it.
func (p *Proxy) enter(x *exchange) func(*exchange) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return failing(errClosed)
	}
	x.request = describe(x.http)
	p.counts[x.request]++
	x.request.Nth = p.counts[key(x.request)]
	p.open[x] = struct{}{}
	p.episodes = slices.DeleteFunc(p.episodes, func(e *episode) bool { return !time.Now().Before(e.until) })
	for _, e := range p.episodes {
		if e.covers(x.request) {
			return e.do
		}
	}
	if p.plan == nil {
		return (*exchange).pass
	}
	step, ok := p.plan.decide(x.request)
	if !ok {
		return p.remembering(x)
	}
	p.trace = append(p.trace, step)
	x.step = step
	return ByName(step.Fault).do
}

func (p *Proxy) left(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, x)
}

// key is a request without its number.
func key(r Request) Request {
	r.Nth = 0
	return r
}

// unpacked is a gzipped body that is unpacked while it is read.
type unpacked struct {
	packed io.ReadCloser
	reader *gzip.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.reader == nil {
		var err error
		if u.reader, err = gzip.NewReader(u.packed); err != nil {
			return 0, fmt.Errorf("unpack the response: %w", err)
		}
	}
	return u.reader.Read(p)
}

func (u *unpacked) Close() error { return u.packed.Close() }
