package fault

import (
	"context"
	"net"
)

// Network is a network in memory. Its connections buffer nothing without bound, and work in a bubble of
// synctest. The zero value is ready. It is safe for concurrent use.
type Network struct{}

// Listen returns a listener. An empty address means a new one.
func (n *Network) Listen(address string) (net.Listener, error)

// DialContext connects to a listener of the network. It refuses as TCP does if nobody listens.
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error)
