// Package child runs an API server, or informers, for a test in a process of its own, which runs the test's
// own program. So its memory and its feature gates are separate from the test's, and it can be frozen.
//
// The two processes exchange lines. The child writes lines of JSON to its output, first the address of its
// server if it has one, and reads commands from its input. It ends when its input does.
package child

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"k8s.io/client-go/rest"
)

// Main runs child in place of the tests if the environment has the variable, with its value. Call it first in
// TestMain.
func Main(variable string, child func(value string) error) {
	value := os.Getenv(variable)
	if value == "" {
		return
	}
	if err := child(value); err != nil {
		fmt.Fprintln(os.Stderr, "the child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Address is the address of a server. Token, CA, in PEM, and Name are for TLS.
type Address struct {
	Host, Token, Name string
	CA                []byte
}

// AddressOf returns the address in the configuration of a client.
func AddressOf(config *rest.Config) Address {
	return Address{config.Host, config.BearerToken, config.ServerName, config.CAData}
}

// Config returns the configuration of a client without a rate limit.
func (a Address) Config() *rest.Config {
	return &rest.Config{Host: a.Host, BearerToken: a.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{ServerName: a.Name, CAData: a.CA}}
}

// Process is a running child.
type Process struct {
	Address
	process *os.Process
	in      io.WriteCloser
	out     *json.Decoder
}

// Start starts a child whose environment has the variable with the value. It ends with the test, or with the
// test's process.
func Start(t *testing.T, variable, value string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+value)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = endWithParent
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the child's process: %v", err)
		}
	})
	p := &Process{process: cmd.Process, in: in, out: json.NewDecoder(out)}
	if err := p.Hear(&p.Address); err != nil {
		t.Fatal(err)
	}
	return p
}

// Say sends a line to the child.
func (p *Process) Say(line string) error {
	_, err := fmt.Fprintln(p.in, line)
	return err
}

// Hear decodes the next line of JSON that the child writes.
func (p *Process) Hear(into any) error { return p.out.Decode(into) }

// Signal sends the child a signal. One that is stopped must go on before the test ends.
func (p *Process) Signal(signal os.Signal) error { return p.process.Signal(signal) }
