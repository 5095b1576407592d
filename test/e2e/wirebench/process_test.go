package wirebench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"syscall"
	"testing"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/internal/wirebench"
)

// gateVariable is set in the process of a server: to "true" to turn the feature gate on.
const gateVariable = "WIREBENCH_GATE"

// gate is the feature gate of servers that leave managedFields out if they are asked to. Only those from
// v1.38 on have it.
const gate featuregate.Feature = "ManagedFieldsOptOut"

// announcement is what the process of a server says first. Then it answers each line with the CPU that it has
// used, in nanoseconds, until its input ends.
type announcement struct {
	Server wirebench.Server
	// Known means that this version has the feature gate.
	Known bool
}

func TestMain(m *testing.M) {
	if on, ok := os.LookupEnv(gateVariable); ok {
		if err := serve(on == "true"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

// serve runs a server until the input ends.
func serve(on bool) error {
	_, known := utilfeature.DefaultMutableFeatureGate.GetAll()[gate]
	if known {
		err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(gate): on})
		if err != nil {
			return err
		}
	}
	ctx := context.Background()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		return err
	}
	defer server.Stop()
	if err := server.CreateCRDs(ctx, definition()); err != nil {
		return err
	}
	c := server.Config()
	answer := json.NewEncoder(os.Stdout)
	answer.Encode(announcement{Known: known, Server: wirebench.Server{
		Host: c.Host, Token: c.BearerToken, Name: c.ServerName, CA: c.CAData,
	}})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		goruntime.GC()
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return err
		}
		answer.Encode(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return nil
}

// process is the process of a server. A server has one of its own because feature gates are global to a
// process, and because its CPU is measured.
type process struct {
	announcement
	stdin   io.Writer
	answers *json.Decoder
}

// start starts a server without objects.
func start(t *testing.T, on bool) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%t", gateVariable, on))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server's process: %v", err)
		}
	})
	p := &process{stdin: stdin, answers: json.NewDecoder(stdout)}
	if err := p.answers.Decode(&p.announcement); err != nil {
		t.Fatalf("the server doesn't start: %v", err)
	}
	return p
}

// cpu returns how much the process has used.
func (p *process) cpu(t *testing.T) (used time.Duration) {
	if _, err := io.WriteString(p.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	if err := p.answers.Decode(&used); err != nil {
		t.Fatal(err)
	}
	return used
}

func (p *process) config() *rest.Config {
	return &rest.Config{Host: p.Server.Host, BearerToken: p.Server.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{ServerName: p.Server.Name, CAData: p.Server.CA}}
}
