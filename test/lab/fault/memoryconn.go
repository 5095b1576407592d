package fault

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// windowSize is how many bytes may be in flight in one direction, as with TCP.
const windowSize = 64 << 10

// window is one direction of a connection in memory.
type window struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	data    []byte
	// ended means that nothing more will be written, broken that nobody reads any more.
	ended, broken bool
}

func newWindow() *window { return &window{changed: make(chan struct{})} }

// change calls f with the window locked, and wakes the goroutines that wait.
func (w *window) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// try calls f, with the window locked, at each change until it returns true or an error, or the deadline
// passes.
func (w *window) try(d *deadline, f func() (bool, error)) error {
	for {
		late, moved := d.state()
		w.mu.Lock()
		done, err := f()
		if done {
			close(w.changed)
			w.changed = make(chan struct{})
		}
		changed := w.changed
		w.mu.Unlock()
		switch {
		case done || err != nil:
			return err
		case late:
			return os.ErrDeadlineExceeded
		}
		select {
		case <-changed:
		case <-moved:
		}
	}
}

// deadline bounds the waits of one direction.
type deadline struct {
	mu    sync.Mutex
	at    time.Time
	moved chan struct{} // closed and replaced when it is set, and when it passes
	timer *time.Timer
}

func newDeadline() *deadline { return &deadline{moved: make(chan struct{})} }

func (d *deadline) state() (late bool, moved <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !time.Now().Before(d.at), d.moved
}

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.at = at; !at.IsZero() {
		d.timer = time.AfterFunc(time.Until(at), d.wake)
	}
	close(d.moved)
	d.moved = make(chan struct{})
}

func (d *deadline) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.moved)
	d.moved = make(chan struct{})
}

// memoryConn is an end of a connection in memory.
type memoryConn struct {
	in, out       *window
	read, write   *deadline
	local, remote net.Addr
}

// memoryPipe returns the two ends of a connection to address.
func memoryPipe(address net.Addr) (client, server *memoryConn) {
	a, b, unknown := newWindow(), newWindow(), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	client = &memoryConn{in: a, out: b, read: newDeadline(), write: newDeadline(), local: unknown,
		remote: address}
	server = &memoryConn{in: b, out: a, read: newDeadline(), write: newDeadline(), local: address,
		remote: unknown}
	return client, server
}

func (c *memoryConn) Read(p []byte) (n int, err error) {
	err = c.in.try(c.read, func() (bool, error) {
		switch {
		case c.in.broken:
			return false, net.ErrClosed
		case len(c.in.data) > 0:
			n = copy(p, c.in.data)
			c.in.data = c.in.data[n:]
			return true, nil
		case c.in.ended:
			return false, io.EOF
		}
		return len(p) == 0, nil
	})
	return n, err
}

func (c *memoryConn) Write(p []byte) (n int, err error) {
	for {
		err = c.out.try(c.write, func() (bool, error) {
			switch {
			case c.out.ended:
				return false, net.ErrClosed
			case c.out.broken:
				return false, syscall.EPIPE
			}
			some := min(len(p)-n, windowSize-len(c.out.data))
			c.out.data = append(c.out.data, p[n:n+some]...)
			n += some
			return some > 0 || n == len(p), nil
		})
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// Close lets the other end read everything that was written, then io.EOF.
func (c *memoryConn) Close() error {
	c.in.change(func() { c.in.broken = true })
	c.out.change(func() { c.out.ended = true })
	c.SetDeadline(time.Time{}) // stops the timers
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr  { return c.local }
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

func (c *memoryConn) SetDeadline(t time.Time) error {
	c.read.set(t)
	c.write.set(t)
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return nil
}

func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return nil
}
