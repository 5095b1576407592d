package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// replica is a process of examples/sharded.
type replica struct {
	name  string
	cmd   *exec.Cmd
	log   string
	front *http.Server
	done  chan struct{} // closed when the process has ended
	// state is what the view shows: "" while the process runs.
	state string
}

// start starts a replica. It reaches the server through the witness.
func (d *demo) start(name string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	r := &replica{name: name, front: &http.Server{Handler: d.witness.front(name)}, done: make(chan struct{})}
	go r.front.Serve(listener) // ends with Close
	d.replicas[name] = r
	kubeconfig := filepath.Join(d.scratch, name+".kubeconfig")
	if err := writeKubeconfig(kubeconfig, "http://"+listener.Addr().String()); err != nil {
		close(r.done)
		return err
	}
	r.cmd = exec.Command(d.program,
		"--kubeconfig", kubeconfig, "--group", group, "--identity", name, "--workers", "16",
		"--oven", oven.String(), "--lease-duration", leaseDuration.String(),
		"--renew-deadline", renewDeadline.String(), "--retry-period", retryPeriod.String(),
		"--join-delay", joinDelay.String(), "--health", "127.0.0.1:0")
	r.log = filepath.Join(d.scratch, name+".log")
	log, err := os.Create(r.log)
	if err != nil {
		close(r.done)
		return err
	}
	defer log.Close() // the child has its own copy
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.SysProcAttr = log, log, endWithParent
	if err := r.cmd.Start(); err != nil {
		close(r.done)
		return err
	}
	go func() {
		defer close(r.done)
		r.cmd.Wait() // the result is in ProcessState
	}()
	return nil
}

func writeKubeconfig(path, server string) error {
	const name = "demo"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{Server: server}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	kubeconfig.CurrentContext = name
	return clientcmd.WriteToFile(*kubeconfig, path)
}

// signal sends a signal, and sets the state that the replica has afterwards.
func (r *replica) signal(s syscall.Signal, state string) error {
	r.state = state
	return r.cmd.Process.Signal(s)
}

// freezeFor freezes the process for a while.
func (r *replica) freezeFor(ctx context.Context, d time.Duration) error {
	if err := r.signal(freeze, frozen); err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return r.signal(thaw, "")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *replica) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// failed returns an error if the replica has ended unexpectedly.
func (r *replica) failed() error {
	if !r.ended() || r.state == killed || r.state == stopped && r.cmd.ProcessState.Success() {
		return nil
	}
	log, _ := os.ReadFile(r.log)
	const shown = 3000
	log = log[max(len(log)-shown, 0):]
	return fmt.Errorf("replica %s ended: %v; its log ends\n%s", r.name, r.cmd.ProcessState, log)
}

// brokenOff returns, from the replica's log, how often it broke off work or didn't begin it.
func (r *replica) brokenOff() int {
	log, _ := os.ReadFile(r.log)
	return bytes.Count(log, []byte("Not owned now"))
}

// health finds the address of /readyz in a log.
var health = regexp.MustCompile(`"Serving /readyz" address="(.*)"`)

// ready reports whether the replica's /readyz is OK.
func (r *replica) ready() bool {
	log, _ := os.ReadFile(r.log)
	address := health.FindSubmatch(log)
	if address == nil {
		return false
	}
	answer, err := http.Get("http://" + string(address[1]) + "/readyz")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// end kills the process if it runs, and frees everything.
func (r *replica) end() {
	if r.cmd != nil && r.cmd.Process != nil {
		r.cmd.Process.Kill() // it may have ended already
	}
	<-r.done
	r.front.Close()
}

// The states of a replica that isn't running.
const (
	killed  = "killed"
	frozen  = "frozen"
	stopped = "stopped"
)
