package fault

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
)

// conn is a connection from a client, below TLS.
type conn struct {
	net.Conn
	server *Server

	mu      sync.Mutex
	frozen  bool
	cutNext bool
	written int
	// progress is closed and replaced when more is written, and closed when the connection is.
	progress chan struct{}
	closed   bool
}

func newConn(s *Server, c net.Conn) *conn {
	return &conn{Conn: c, server: s, progress: make(chan struct{})}
}

// sent returns how many bytes have been written.
func (c *conn) sent() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// awaitSent waits until n bytes have been written, or the connection is closed or half-open. HTTP/2 needs it:
// net/http writes a little later what a handler has flushed.
func (c *conn) awaitSent(n int) {
	for {
		c.mu.Lock()
		over, progress := c.written >= n || c.closed || c.frozen, c.progress
		c.mu.Unlock()
		if over {
			return
		}
		<-progress
	}
}

// freeze makes the connection half-open: nothing is read from the client, and nothing that is written reaches
// it.
func (c *conn) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
	c.wake()
}

// wake wakes the goroutines that wait for progress. The caller holds c.mu.
func (c *conn) wake() {
	close(c.progress)
	c.progress = make(chan struct{})
}

func (c *conn) isFrozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen
}

// cutNextWrite makes the next write end the connection half-way.
func (c *conn) cutNextWrite() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutNext = true
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		switch {
		case !c.isFrozen():
			return n, err
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case err != nil: // the client has noticed
			c.cut()
			return 0, net.ErrClosed
		}
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	frozen, cut := c.frozen, c.cutNext && len(p) > 1
	c.mu.Unlock()
	switch {
	case frozen:
		return len(p), nil
	case cut:
		n, _ := c.Conn.Write(p[:len(p)/2])
		c.cut()
		return n, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += n
	c.wake()
	return n, err
}

// Close is called by net/http. The client of a frozen connection doesn't notice.
func (c *conn) Close() error {
	if !c.isFrozen() {
		c.cut()
	}
	return nil
}

// cut ends the connection without the closing messages of TLS and HTTP.
func (c *conn) cut() {
	c.Conn.Close()
	c.mu.Lock()
	c.closed = true
	c.wake()
	c.mu.Unlock()
	c.server.forget(c)
}

// reset ends the connection with a TCP reset, as a crash does.
func (c *conn) reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.cut()
}

// below returns the connection below TLS.
func below(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return c.(*conn)
}
