package fault

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy passes requests on to a backend and makes faults happen to them. Its methods are safe for concurrent
// use. It works inside a bubble of synctest and has no goroutines, unless it listens.
type Proxy struct {
	backend http.RoundTripper
	closed  chan struct{}

	mu       sync.Mutex
	plan     Plan
	counts   map[Request]int // without Nth
	trace    Script
	open     map[*exchange]struct{}
	episodes []*episode
	servers  []*Server
	memory   memory
}

// New returns a proxy before a backend. With a nil plan nothing happens to requests.
func New(backend http.RoundTripper, plan Plan) *Proxy {
	return &Proxy{
		backend: backend, plan: plan, closed: make(chan struct{}),
		counts: map[Request]int{}, open: map[*exchange]struct{}{},
	}
}

// Config returns a configuration of clients that reach the proxy by its method RoundTrip, without a
// connection. Set its UserAgent to tell clients apart.
func (p *Proxy) Config() *rest.Config {
	return &rest.Config{Host: "http://" + memoryHost, Transport: p, QPS: -1}
}

// Plan replaces the plan, for requests from now on. Requests are counted on. nil means no more faults.
func (p *Proxy) Plan(plan Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = plan
}

// Calm ends the plan and everything that lasts for a while: a server that was gone is back, what was delayed
// goes on. A stream that was silenced, or lacks events, stays so: the informer has to notice.
func (p *Proxy) Calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = nil
	for _, e := range p.episodes {
		e.end()
	}
	p.episodes = nil
	for x := range p.open {
		x.calm()
	}
}

// Expire ends every open watch that isn't silenced with 410 Expired, so that informers list again. It returns
// how many there were.
func (p *Proxy) Expire() int {
	return p.interrupt(func(x *exchange) bool { return x.request.Kind&Watches != 0 }, errExpireNow)
}

// Cut resets every open connection, or, without connections, every open request.
func (p *Proxy) Cut() {
	p.mu.Lock()
	servers := slices.Clone(p.servers)
	p.mu.Unlock()
	p.interrupt(func(*exchange) bool { return true }, errReset)
	for _, s := range servers {
		s.cut()
	}
}

// Trace returns what has happened so far, in order: a script by which it happens again.
func (p *Proxy) Trace() Script {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.trace)
}

// Counts returns how many requests came of each sort, those that met with a fault included. Nth is zero in
// the keys.
func (p *Proxy) Counts() map[Request]int

// Count returns how many requests came that match a pattern, whose Nth is ignored.
func (p *Proxy) Count(pattern Request) int {
	pattern.Nth = 0
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for r, count := range p.counts {
		if pattern.matches(r) {
			n += count
		}
	}
	return n
}

// Open returns the requests whose response isn't read to its end or closed.
func (p *Proxy) Open() []Request

// Close ends every request and every server of the proxy, and returns when nothing of it runs any more.
// Requests fail from then on.
func (p *Proxy) Close()

var _ = []any{context.Background, errors.New, time.Now}
