// Package tcpproxy has a proxy that fails as networks do: it cuts connections, refuses new ones for a while,
// and is slow.
package tcpproxy

import (
	"bytes"
	"io"
	"net"
	"sync"
	"time"
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
	lag    time.Duration
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

// Lag makes everything that the server sends from now on arrive so much later, in its order.
func (p *Proxy) Lag(lag time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lag = lag
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
	closeBoth := func() {
		client.Close()
		server.Close()
	}
	copying.Go(func() {
		defer closeBoth()
		io.Copy(server, client)
	})
	late := make(chan chunk, 1024)
	gone := make(chan struct{})
	copying.Go(func() {
		defer close(late)
		p.receive(server, late, gone)
	})
	copying.Go(func() {
		defer closeBoth()
		defer close(gone)
		send(client, late)
	})
	copying.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

// chunk is a part of what the server sent, and when it may arrive.
type chunk struct {
	due  time.Time
	data []byte
}

// receive reads what the server sends until it ends or nobody takes it.
func (p *Proxy) receive(server net.Conn, late chan<- chunk, gone <-chan struct{}) {
	buffer := make([]byte, 1<<15)
	for {
		n, err := server.Read(buffer)
		p.mu.Lock()
		due := time.Now().Add(p.lag)
		p.mu.Unlock()
		select {
		case late <- chunk{due, bytes.Clone(buffer[:n])}:
		case <-gone:
			return
		}
		if err != nil {
			return
		}
	}
}

// send passes on each chunk when it is due.
func send(client net.Conn, late <-chan chunk) {
	for c := range late {
		time.Sleep(time.Until(c.due))
		if _, err := client.Write(c.data); err != nil {
			return
		}
	}
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
