package kubeserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// process is a program that runs until it is killed. Killing these programs does no harm: etcd recovers from
// its log, and the folder is removed in the end.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when the process has ended and been waited for
}

// startProcess runs a program and appends its output to dir/<name>.log.
func startProcess(dir, program string, args ...string) (*process, error) {
	path := filepath.Join(dir, filepath.Base(program)+".log")
	log, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own copy
	p := &process{cmd: exec.Command(program, args...), log: path, done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = endWithParent
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait() // the result is in ProcessState
	}()
	return p, nil
}

// kill ends the process and returns when it is gone. It does nothing for a nil process.
func (p *process) kill() error {
	if p == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	<-p.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// end asks the process to end, and returns when it is gone. A process that hasn't ended when ctx does keeps
// running.
func (p *process) end(ctx context.Context) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s doesn't end: %w", filepath.Base(p.cmd.Path), context.Cause(ctx))
	}
}

// ended describes a process that has stopped by itself, with the end of its log.
func (p *process) ended() error {
	const shown = 2000
	log, _ := os.ReadFile(p.log)
	if len(log) > shown {
		log = log[len(log)-shown:]
	}
	return fmt.Errorf("%s: %v; its log ends\n%s", filepath.Base(p.cmd.Path), p.cmd.ProcessState, log)
}
