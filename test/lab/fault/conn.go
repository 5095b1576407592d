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
}

// freeze makes the connection half-open: what the client sends isn't read, what is sent doesn't arrive.
func (c *conn) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = true
}

func (c *conn) isFrozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen
}

// cutNextWrite ends the connection in the middle of what is written next.
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
	return c.Conn.Write(p)
}

// Close is what net/http calls. The client of a frozen connection isn't told.
func (c *conn) Close() error {
	if !c.isFrozen() {
		c.cut()
	}
	return nil
}

// cut ends the connection without a word of TLS or HTTP.
func (c *conn) cut() {
	c.Conn.Close()
	c.server.forget(c)
}

// reset ends the connection as a crash does.
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
