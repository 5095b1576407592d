package listwatch

import (
	"io"
	"net/http"
	"sync"
)

// plainCall is the exchange of a list or watch function whose responses the client decodes.
type plainCall struct {
	// keep returns what keeps text of a body, to find what the client can't decode. It is nil if our decoder
	// can't read the text.
	keep func() kept

	mu   sync.Mutex
	last *answer
}

func (c *plainCall) see(string) {}

func (c *plainCall) answered(a *answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = a
}

func (c *plainCall) take(*http.Request, string, io.ReadCloser) io.ReadCloser {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keep != nil {
		c.last.keep(c.keep())
	}
	return nil
}

// answer returns the last response, nil if no transport saw one.
func (c *plainCall) answer() *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *plainCall) credentials() credentials { return c.answer().used() }
