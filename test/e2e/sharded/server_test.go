//go:build linux

package sharded

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/internal/child"
	"github.com/kubewright/kubewright/test/e2e/kubeserver"
)

// server is the API server of a test.
type server interface {
	config() *rest.Config
	// restart ends the server, and starts it again after a while.
	restart(context.Context, time.Duration) error
}

// serverVariable makes the test's program an embedded server. That needs a process of its own, because the
// feature gate is global to a process.
const serverVariable = "SHARDED_SERVER"

// Values of serverVariable.
const (
	filtering = "filtering"
	whole     = "whole"
)

func TestMain(m *testing.M) {
	child.Main(serverVariable, serve)
	os.Exit(m.Run())
}

// serve runs an embedded server until its input ends. It prints its address first. A line of input is the
// time for which the server must be down. When it is up again, it prints a line.
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
	out := json.NewEncoder(os.Stdout)
	err = out.Encode(child.AddressOf(s.Config()))
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

// embedded is an embedded server in another process.
type embedded struct{ *child.Process }

// startEmbedded starts an embedded server, which ends with the test.
func startEmbedded(t *testing.T, what string) embedded {
	return embedded{child.Start(t, serverVariable, what)}
}

func (e embedded) config() *rest.Config { return e.Config() }

func (e embedded) restart(_ context.Context, down time.Duration) error {
	if err := e.Say(down.String()); err != nil {
		return err
	}
	var done string
	return e.Hear(&done)
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
