//go:build linux

package live

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/child"
)

// begin starts a child that can be frozen. It ends with the test.
func (j job) begin(t *testing.T) *child.Process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := child.Start(t, variable, string(text))
	t.Cleanup(func() { _ = p.Signal(syscall.SIGCONT) }) // it may have ended
	return p
}

// freeze stops a process for a while.
func freeze(ctx context.Context, t *testing.T, signal func(os.Signal) error, d time.Duration) {
	t.Helper()
	if err := signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var err error
	select {
	case <-time.After(d):
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err := errors.Join(err, signal(syscall.SIGCONT)); err != nil {
		t.Fatal(err)
	}
}

// TestServerFreezes freezes an API server, which doesn't notice. Its connections stay, and take requests that
// nobody answers. When it goes on, so do the informers.
func TestServerFreezes(t *testing.T) {
	if *full {
		t.Skip("make lab freezes a kube-apiserver")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	server := job{}.begin(t)
	c := cluster{
		name: "embedded", config: server.Config(), resource: bakeries,
		enter: func(context.Context, string) error { return nil },
	}
	// The writes wait for the server meanwhile. After some 45 s they would be given up, and could happen later.
	serverFreeze(ctx, t, c, server.Signal, 3*time.Second)
}

// TestKubeServerFreezes is TestServerFreezes with one of two kube-apiservers, so that objects change.
func TestKubeServerFreezes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	server, c := launchKube(t)
	second, _ := startBeside(ctx, t, server)
	c.servers = alternate(t, second.Config())
	serverFreeze(ctx, t, c, second.Signal, frozen())
}

func serverFreeze(
	ctx context.Context, t *testing.T, c cluster, signal func(os.Signal) error, d time.Duration,
) {
	t.Helper()
	namespace, w := enter(ctx, t, c)
	l := newLab(ctx, t, c, namespace, true, false)
	stop := churn(ctx, w, 1)
	l.hear(ctx)
	freeze(ctx, t, signal, d)
	thawed := time.Now()
	stop()
	verdicts := l.converge(ctx)
	l.report(serverFreezes, verdicts, time.Since(thawed))
	t.Logf("right again after %v", time.Since(thawed).Round(time.Millisecond))
	stop = churn(ctx, w, 2)
	l.hear(ctx)
	stop()
	l.converge(ctx)
	l.end()
}

// TestProgramFreezes freezes the process of informers while objects change. When it goes on, they get what
// they have missed.
func TestProgramFreezes(t *testing.T) {
	if *full {
		t.Skip("make lab has a kube-apiserver for that")
	}
	t.Parallel()
	programFreeze(t, embeddedCluster(t, true), frozen())
}

func TestKubeProgramFreezes(t *testing.T) {
	t.Parallel()
	_, c := launchKube(t)
	programFreeze(t, c, frozen())
}

func programFreeze(t *testing.T, c cluster, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	namespace, w := enter(ctx, t, c)
	address, err := addressOf(c.config)
	if err != nil {
		t.Fatal(err)
	}
	p := job{&informers{Server: address, Resource: c.resource.String(), Namespace: namespace}}.begin(t)
	for _, frozen := range []bool{true, false} {
		stop := churn(ctx, w, 1)
		var answers []answer
		if err := errors.Join(p.Say(""), p.Hear(&answers)); err != nil {
			t.Fatal(err)
		}
		if frozen {
			freeze(ctx, t, p.Signal, d)
		}
		thawed := time.Now()
		stop()
		if answers, err = ask(ctx, p, c, namespace); err != nil {
			t.Fatal(err)
		}
		took := time.Since(thawed)
		for _, a := range answers {
			if a.Verdict != "" {
				if t.Logf("%s; %s", a.What, a.Who); a.Who != clientGo {
					t.Fail()
				}
			}
			if frozen {
				c.report(t, programFreezes, a.Who, a.Verdict, took)
			}
		}
	}
}
