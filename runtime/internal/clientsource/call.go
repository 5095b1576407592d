package clientsource

import (
	"net/http"
	"sync"

	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// call is what all exchanges have in common: one call of a list or watch function.
type call struct {
	// requested is that of the source, nil if the request doesn't matter to it.
	requested *requested
	// drop means that the server should be asked to leave metadata.managedFields out.
	drop bool

	mu sync.Mutex
	// ended means that the function has returned, or was left behind: the exchange doesn't change any more.
	ended bool
	// seen means that a transport saw a request.
	seen bool
	// last is the last response, nil if there was none, or no transport saw it.
	last *transport.Answer
}

// endCall notes that the function has returned or was left behind.
func (c *call) endCall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// Prepare is a method of [transport.Exchange].
func (c *call) Prepare(req *http.Request) (drop bool) {
	_, _, lists := requestOf(req)
	return c.drop && lists
}

// Sends is a method of [transport.Exchange].
func (c *call) Sends(req *http.Request, drop bool) {
	c.requested.note(req, drop)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.seen = true
	}
}

// Answered is a method of [transport.Exchange].
func (c *call) Answered(a *transport.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.last = a
	}
}
