package clientsource

import (
	"io"
	"net/http"

	"github.com/kubewright/kubewright/runtime/internal/transport"
)

// plainCall is the exchange of a list or watch function whose responses the client decodes.
type plainCall struct {
	// keep returns what keeps text of a body, to find what the client can't decode. It is nil if our decoder
	// can't read the text.
	keep func() transport.Kept
	call
}

func (c *plainCall) Left(string) {}

func (c *plainCall) Take(*http.Request, string, io.ReadCloser) io.ReadCloser {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keep != nil {
		c.last.Keep(c.keep())
	}
	return nil
}

// answer returns the last response, nil if no transport saw one.
func (c *plainCall) answer() *transport.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *plainCall) credentials() transport.Credentials { return c.answer().Credentials() }
