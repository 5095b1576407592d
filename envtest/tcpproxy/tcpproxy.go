// Package tcpproxy has a proxy that fails as networks do: it cuts connections, and refuses new ones for a
// while.
package tcpproxy

import (
	"io"
	"net"
	"sync"
)

// Proxy passes bytes between its clients and one server. Its methods are safe for concurrent
// use.
type Proxy struct {
	listener net.Listener
	target   string
	serving  sync.WaitGroup // the accept loop and one for each connection

	mu     sync.Mutex
	open   map[net.Conn]struct{} // both ends of each connection
	down   bool
	closed bool
	passed int // connections that reached the server
}

// Start runs a proxy on 127.0.0.1 for the server at target, a host:port.
func Start(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, open: map[net.Conn]struct{}{}}
	p.serving.Go(p.acceptConnections)
	return p, nil
}

// Addr returns the host:port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections returns how many connections have been passed on so far.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}

// Cut closes every open connection, even in the middle of a message. New ones are let through.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

// Down cuts every connection and lets no new one through until Up is called.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	p.cut()
}

// Up lets connections through again.
func (p *Proxy) Up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Close cuts every connection, stops listening, and returns when all goroutines have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.cut()
	p.mu.Unlock()
	p.listener.Close()
	p.serving.Wait()
}

func (p *Proxy) cut() {
	for c := range p.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0) // closes by a reset
		}
		c.Close()
	}
	clear(p.open)
}

func (p *Proxy) acceptConnections() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		p.serving.Go(func() { p.pass(client) })
	}
}

func (p *Proxy) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.register(client, server) {
		return
	}
	var copying sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		copying.Go(func() {
			io.Copy(way[0], way[1])
			// When one side closes, close both.
			way[0].Close()
			way[1].Close()
		})
	}
	copying.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

// register reports whether the connection is allowed.
func (p *Proxy) register(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down || p.closed {
		return false
	}
	p.open[client], p.open[server] = struct{}{}, struct{}{}
	p.passed++
	return true
}
