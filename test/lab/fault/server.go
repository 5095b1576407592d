package fault

import (
	"k8s.io/client-go/rest"
)

// ServerOptions are how a proxy listens. The zero value means HTTP/2 with TLS on a port of 127.0.0.1, which
// is what API servers do.
type ServerOptions struct {
	// HTTP1 offers HTTP/1.1 only.
	HTTP1 bool
	// Plain serves without TLS.
	Plain bool
	// Network is in memory, nil for TCP.
	Network *Network
}

// Server is a proxy that listens.
type Server struct{}

// Listen serves the proxy until it is closed.
func (p *Proxy) Listen(o ServerOptions) (*Server, error)

// Config returns a configuration of clients that connect to the server, and trust the proxy's CA. Set its
// UserAgent to tell clients apart.
func (s *Server) Config() *rest.Config

// Connections returns how many connections are open, and how many there have been.
func (s *Server) Connections() (open, all int)
