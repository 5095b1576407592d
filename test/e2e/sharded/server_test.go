//go:build linux

package sharded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/test/e2e/apiserver"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// server is the API server of a test.
type server interface {
	config() *rest.Config
	// restart ends it, and starts it again after a while.
	restart(context.Context, time.Duration) error
}

// serverVariable makes the test's program an embedded server: the feature gate is global to a process.
const serverVariable = "SHARDED_SERVER"

// Values of serverVariable.
const (
	filtering = "filtering"
	whole     = "whole"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(serverVariable); what != "" {
		if err := serve(what); err != nil {
			fmt.Fprintln(os.Stderr, "the server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve runs an embedded server until its input ends. It tells its address. A line of input is for how long
// it is to be down; then it is back, and answers with a line.
func serve(what string) (err error) {
	ctx := context.Background()
	s, err := apiserver.Start(ctx, apiserver.Options{ShardedListAndWatch: what == filtering})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := s.InstallCRDs(ctx, crds.Files); err != nil {
		return err
	}
	config, out := s.Config(), json.NewEncoder(os.Stdout)
	err = out.Encode(address{config.Host, config.BearerToken, config.ServerName, config.CAData})
	for in := bufio.NewScanner(os.Stdin); err == nil && in.Scan(); {
		down, wrong := time.ParseDuration(in.Text())
		if err = errors.Join(wrong, s.Halt()); err != nil {
			break
		}
		<-time.After(down)
		if err = s.Restart(ctx); err == nil {
			err = out.Encode("restarted")
		}
	}
	return err
}

// address is how to reach an embedded server.
type address struct {
	Host, Token, Name string
	CA                []byte
}

// embedded is an embedded server in another process.
type embedded struct {
	address
	in  io.WriteCloser
	out *json.Decoder
}

// startEmbedded starts an embedded server, which ends with the test.
func startEmbedded(t *testing.T, what string) *embedded {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"="+what)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	e := &embedded{}
	var err error
	if e.in, err = cmd.StdinPipe(); err != nil {
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
		e.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server's process: %v", err)
		}
	})
	e.out = json.NewDecoder(out)
	if err := e.out.Decode(&e.address); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *embedded) config() *rest.Config {
	return &rest.Config{Host: e.Host, BearerToken: e.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{ServerName: e.Name, CAData: e.CA}}
}

func (e *embedded) restart(_ context.Context, down time.Duration) error {
	if _, err := fmt.Fprintln(e.in, down); err != nil {
		return err
	}
	var done string
	return e.out.Decode(&done)
}

// kube is a kube-apiserver with the feature gate.
type kube struct{ *kubeserver.Server }

// startKube starts a kube-apiserver, which ends with the test.
func startKube(t *testing.T) kube {
	t.Helper()
	binaries, err := kubeserver.Build(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	s, err := kubeserver.Start(t.Context(), binaries,
		kubeserver.Options{Flags: []string{"--feature-gates=ShardedListAndWatch=true"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return kube{s}
}

func (k kube) config() *rest.Config { return k.Config() }

// restart kills the server: connections are cut without notice.
func (k kube) restart(ctx context.Context, down time.Duration) error {
	if err := k.Kill(); err != nil {
		return err
	}
	select {
	case <-time.After(down):
		return k.Restart(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
