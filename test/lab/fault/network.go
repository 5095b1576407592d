package fault

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// Network is a network in memory, which works in a bubble of synctest. The zero value is ready. It is safe
// for concurrent use.
type Network struct {
	mu        sync.Mutex
	last      int
	listeners map[string]*memoryListener
}

// Listen returns a listener. For port 0 it picks a port that isn't in use.
func (n *Network) Listen(address string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	to, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if to.Port == 0 {
		n.last++
		to.Port = n.last
	}
	if n.listeners == nil {
		n.listeners = map[string]*memoryListener{}
	}
	if _, taken := n.listeners[to.String()]; taken {
		return nil, failed("listen", to, "bind", syscall.EADDRINUSE)
	}
	l := &memoryListener{network: n, address: to, dialed: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[to.String()] = l
	return l, nil
}

// DialContext connects to a listener of the network. If there is none, the connection is refused, as by TCP.
func (n *Network) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("%s: %w", address, failed("dial", nil, "connect", syscall.ECONNREFUSED))
	}
	client, server := memoryPipe(l.address)
	select {
	case l.dialed <- server:
		return client, nil
	case <-l.closed:
		return nil, failed("dial", l.address, "connect", syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func failed(op string, address net.Addr, call string, number syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Addr: address, Err: os.NewSyscallError(call, number)}
}

type memoryListener struct {
	network *Network
	address *net.TCPAddr
	dialed  chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *memoryListener) Addr() net.Addr { return l.address }

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, l.address.String())
	})
	return nil
}
