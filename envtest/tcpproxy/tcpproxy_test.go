package tcpproxy_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kubewright/kubewright/envtest/tcpproxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo sends back each line that it receives until its listener is closed.
func echo(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, lines.Text())
				}
			}()
		}
	}()
	return l
}

func TestProxy(t *testing.T) {
	p, err := tcpproxy.Start(echo(t).Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var c net.Conn
	dial := func() {
		t.Helper()
		if c, err = net.Dial("tcp", p.Addr()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	answers := func() bool {
		fmt.Fprintln(c, "hello")
		line, err := bufio.NewReader(c).ReadString('\n')
		return err == nil && line == "hello\n"
	}

	for _, step := range []struct {
		name string
		do   func()
		want bool
	}{
		{"connected", dial, true},
		{"cut", p.Cut, false},
		{"connected again", dial, true},
		{"down", p.Down, false},
		{"connected while down", dial, false},
		{"connected after that", func() { p.Up(); dial() }, true},
		{"closed", p.Close, false},
	} {
		step.do()
		if got := answers(); got != step.want {
			t.Fatalf("%s: answers %v, want %v", step.name, got, step.want)
		}
	}
	if n := p.Connections(); n != 3 {
		t.Errorf("%d connections passed, want 3", n)
	}
	if c, err := net.Dial("tcp", p.Addr()); err == nil {
		c.Close()
		t.Error("a closed proxy takes connections")
	}
}

// TestLag checks that answers of a slow server arrive, in order and not before their time.
func TestLag(t *testing.T) {
	p, err := tcpproxy.Start(echo(t).Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const lag = 50 * time.Millisecond
	p.Lag(lag)
	begun := time.Now()
	fmt.Fprintln(c, "first")
	lines := bufio.NewScanner(c)
	if !lines.Scan() || lines.Text() != "first" || time.Since(begun) < lag {
		t.Errorf("%q after %v (%v)", lines.Text(), time.Since(begun), lines.Err())
	}
	fmt.Fprintln(c, "second")
	p.Lag(0)
	fmt.Fprintln(c, "third")
	for _, want := range []string{"second", "third"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("%q (%v), want %q", lines.Text(), lines.Err(), want)
		}
	}
}
