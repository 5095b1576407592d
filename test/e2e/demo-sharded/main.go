// Command demo-sharded shows replicas of a controller that share their objects. It starts a real API server
// in this process, with the feature gate ShardedListAndWatch, and examples/sharded as processes. It adds
// replicas, kills one, freezes one and stops one, while customers order bread in 48 namespaces, and prints
// who bakes where.
//
// It exits with 0 only if every order was baked, nothing was baked twice, and others took over each time. It
// leaves no files and no processes. It reads the repository in which it is run:
//
//	make demo-sharded
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// deadline ends a demo that hangs. Without the builds, a demo takes about a minute.
const deadline = 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, errors.New("the demo takes too long"))
	err := run(ctx)
	cancel()
	stop()
	if err != nil {
		fmt.Printf("\nFAILED: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "kubewright-demo-sharded-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program, err := build(ctx, scratch)
	if err != nil {
		return err
	}
	d, err := open(ctx, scratch, program)
	if err != nil {
		return err
	}
	return errors.Join(tell(ctx, d), d.close())
}

// build compiles examples/sharded.
func build(ctx context.Context, scratch string) (program string, err error) {
	const module = "github.com/kubewright/kubewright"
	root, err := command(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	program = filepath.Join(scratch, "sharded"+exe)
	_, err = command(ctx, root, "go", "build", "-o", program, "./examples/sharded")
	return program, err
}

// command runs a program and returns its output.
func command(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
