//go:build linux

package sharded

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/kubewright/kubewright/test/e2e/sharded/internal/wire"
)

// group has the current replicas.
type group struct {
	t       *testing.T
	program string
	dir     string
	// job is the job of all replicas, except for the identity.
	job      wire.Job
	launched int
	replicas []*replica
}

// replica is a replica's process.
type replica struct {
	wire.Ready
	name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
	// frozen means that it was stopped.
	frozen bool
}

// newGroup builds the program. Its replicas end with the test.
func newGroup(t *testing.T, job wire.Job) *group {
	t.Helper()
	g := &group{t: t, dir: t.TempDir(), job: job}
	g.program = filepath.Join(g.dir, "replica")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", g.program, "./replica")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			g.tell()
		}
		for _, r := range slices.Clone(g.replicas) {
			g.kill(r)
		}
	})
	return g
}

// launch starts replicas, and returns when they have joined.
func (g *group) launch(n int) error {
	for range n {
		g.launched++
		job := g.job
		job.Identity = fmt.Sprintf("r%d", g.launched)
		text, err := json.Marshal(job)
		if err != nil {
			return err
		}
		r := &replica{
			name: job.Identity, ended: make(chan struct{}), log: filepath.Join(g.dir, job.Identity+".log"),
		}
		log, err := os.Create(r.log)
		if err != nil {
			return err
		}
		r.cmd = exec.Command(g.program, "-v=2")
		r.cmd.Env = append(os.Environ(), wire.Variable+"="+string(text))
		r.cmd.Stderr = log
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := r.cmd.StdoutPipe()
		if err != nil {
			return err
		}
		err = r.cmd.Start()
		log.Close() // the process has its own copy
		if err != nil {
			return err
		}
		g.replicas = append(g.replicas, r)
		err = json.NewDecoder(out).Decode(&r.Ready)
		go func() {
			defer close(r.ended)
			_ = r.cmd.Wait() // the result is in ProcessState
		}()
		if err != nil {
			return fmt.Errorf("replica %s doesn't join: %w", r.name, err)
		}
	}
	return nil
}

// kill ends a replica by SIGKILL.
func (g *group) kill(r *replica) {
	_ = r.cmd.Process.Kill() // it may have ended already
	<-r.ended
	g.remove(r)
}

// dismiss ends replicas by SIGTERM, and returns when they have left.
func (g *group) dismiss(ctx context.Context, replicas ...*replica) error {
	for _, r := range replicas {
		if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return fmt.Errorf("replica %s: %w", r.name, err)
		}
	}
	for _, r := range replicas {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return fmt.Errorf("replica %s doesn't end: %w", r.name, context.Cause(ctx))
		}
		if !r.cmd.ProcessState.Success() {
			return fmt.Errorf("replica %s: %v", r.name, r.cmd.ProcessState)
		}
		g.remove(r)
	}
	return nil
}

func (g *group) remove(r *replica) {
	g.replicas = slices.DeleteFunc(g.replicas, func(other *replica) bool { return other == r })
}

// freeze stops a replica until thaw. The replica doesn't notice.
func (g *group) freeze(r *replica) error {
	r.frozen = true
	return r.cmd.Process.Signal(syscall.SIGSTOP)
}

func (g *group) thaw(r *replica) error {
	r.frozen = false
	return r.cmd.Process.Signal(syscall.SIGCONT)
}

// running returns the running replicas, by member.
func (g *group) running() map[string]*replica {
	running := map[string]*replica{}
	for _, r := range g.replicas {
		if !r.frozen {
			running[r.Member] = r
		}
	}
	return running
}

// state requests a replica's state.
func (g *group) state(ctx context.Context, r *replica) (state wire.State, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address, nil)
	if err != nil {
		return state, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return state, err
	}
	defer response.Body.Close()
	return state, json.NewDecoder(response.Body).Decode(&state)
}

// tell logs the ends of the replicas' logs.
func (g *group) tell() {
	const shown = 3000
	logs, err := filepath.Glob(filepath.Join(g.dir, "*.log"))
	if err != nil {
		g.t.Log(err)
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			g.t.Log(err)
		}
		g.t.Logf("the end of %s:\n%s", filepath.Base(path), text[max(0, len(text)-shown):])
	}
}
