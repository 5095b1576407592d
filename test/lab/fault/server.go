package fault

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// ServerOptions are the options of [Proxy.Listen]. The zero value is what API servers do: HTTP/2, or HTTP/1.1
// for clients that don't offer HTTP/2, with TLS on a port of 127.0.0.1.
type ServerOptions struct {
	// HTTP1 offers HTTP/1.1 only.
	HTTP1 bool
	// Network is in memory, nil for TCP.
	Network *Network
}

// Server is a proxy that listens. Its methods are safe for concurrent use.
type Server struct {
	proxy     *Proxy
	opts      ServerOptions
	address   string
	http      http.Server
	trusted   *authority
	untrusted *tls.Certificate
	serving   sync.WaitGroup // one for each listener
	handlers  sync.WaitGroup

	mu          sync.Mutex
	listener    net.Listener // nil while it is shut
	closed      bool
	certificate *tls.Certificate
	wrong       bool
	conns       map[*conn]struct{}
	accepted    int
}

// Listen serves the proxy until the proxy is closed.
func (p *Proxy) Listen(o ServerOptions) (*Server, error) {
	s := &Server{proxy: p, opts: o, conns: map[*conn]struct{}{}}
	if err := s.makeCertificates(); err != nil {
		return nil, err
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!o.HTTP1)
	s.http = http.Server{
		Handler:     http.HandlerFunc(s.serveHTTP),
		Protocols:   protocols,
		ErrorLog:    log.New(io.Discard, "", 0), // of each connection that a fault ends
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return withConn(ctx, below(c)) },
		TLSConfig: &tls.Config{
			GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.shown(), nil },
			SessionTicketsDisabled: true, // so that each connection sees the certificate
		},
	}
	listener, err := s.listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.address = listener.Addr().String()
	s.serve(listener)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.servers = append(p.servers, s)
	return s, nil
}

func (s *Server) makeCertificates() (err error) {
	if s.trusted, err = newAuthority("fault"); err != nil {
		return err
	}
	if s.certificate, err = s.trusted.issue(); err != nil {
		return err
	}
	other, err := newAuthority("another authority")
	if err != nil {
		return err
	}
	s.untrusted, err = other.issue()
	return err
}

// Config returns a configuration for clients that connect to the server and trust the proxy's CA. Set its
// UserAgent to tell clients apart.
func (s *Server) Config() *rest.Config {
	config := &rest.Config{Host: "https://" + s.address, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.trusted.pem()}}
	if s.opts.Network != nil {
		config.Dial = s.opts.Network.DialContext
	}
	return config
}

// Connections returns how many connections are open, and how many have been accepted so far.
func (s *Server) Connections() (open, accepted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.accepted
}

func (s *Server) listen(address string) (net.Listener, error) {
	if s.opts.Network != nil {
		return s.opts.Network.Listen(address)
	}
	return net.Listen("tcp", address)
}

// serve accepts connections until the listener is closed. The caller holds s.mu, or is the only one that has
// s.
func (s *Server) serve(l net.Listener) {
	s.listener = l
	s.serving.Go(func() { s.http.ServeTLS(&listener{l, s}, "", "") })
}

// shut makes the server refuse new connections.
func (s *Server) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		s.listener.Close()
		s.listener = nil
	}
}

// reopen undoes shut. If another process has taken the port meanwhile, it tries again.
func (s *Server) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.listener != nil {
		return
	}
	l, err := s.listen(s.address)
	if err != nil {
		time.AfterFunc(10*time.Millisecond, s.reopen)
		return
	}
	s.serve(l)
}

// rotate gives the server a new certificate of the same CA.
func (s *Server) rotate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if certificate, err := s.trusted.issue(); err == nil {
		s.certificate = certificate
	}
}

// setTrusted sets whether the server's certificate is of the CA that clients trust.
func (s *Server) setTrusted(trusted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = !trusted
}

func (s *Server) shown() *tls.Certificate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong {
		return s.untrusted
	}
	return s.certificate
}

// cut resets the connections.
func (s *Server) cut() {
	s.mu.Lock()
	var conns []*conn
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.reset()
	}
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.shut()
	s.cut()
	s.http.Close()
	s.serving.Wait()
	s.cut() // connections accepted meanwhile
	s.handlers.Wait()
}

// begin counts a handler, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.handlers.Add(1)
	}
	return !s.closed
}

// listener wraps the connections that it accepts as the server's.
type listener struct {
	net.Listener
	server *Server
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	accepted := newConn(s, c)
	s.conns[accepted] = struct{}{}
	s.accepted++
	return accepted, nil
}

type connKey struct{}

func withConn(ctx context.Context, c *conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// serveHTTP answers a request, or ends its connection.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		panic(http.ErrAbortHandler)
	}
	defer s.handlers.Done()
	c := r.Context().Value(connKey{}).(*conn)
	resp, err := s.proxy.exchange(r, c, func(err error) error { return err })
	if err != nil {
		end(r, c, err)
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	send := func(p []byte) bool {
		sent, control := c.sent(), http.NewResponseController(w)
		if _, err := w.Write(p); err != nil || control.Flush() != nil {
			return false
		}
		c.awaitSent(sent + max(1, len(p)))
		return true
	}
	w.WriteHeader(resp.StatusCode)
	if !send(nil) {
		return
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buffer)
		if n > 0 && !send(buffer[:n]) {
			return
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			end(r, c, err)
		}
	}
}

// end ends a response that isn't complete, with or without its connection. If the backend failed, the
// connection is reset.
func end(r *http.Request, c *conn, err error) {
	switch e := (*ending)(nil); {
	case errors.As(err, &e):
		if e.connection != nil {
			e.connection(c)
		}
	case r.Context().Err() == nil: // the client hasn't given up
		c.reset()
	}
	panic(http.ErrAbortHandler)
}
