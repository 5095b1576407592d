// Package demos has what the demo programs share: how they end, and how they run other programs.
package demos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// deadline ends a demo that hangs. Without the builds, a demo takes about a minute.
const deadline = 10 * time.Minute

// Main runs a demo. Its context ends at an interrupt and after ten minutes. If the demo fails, Main prints
// why and exits with 1.
func Main(run func(context.Context) error) {
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

// Command runs a program in a folder and returns its output, without leading and trailing space.
func Command(ctx context.Context, dir string, args ...string) (string, error) {
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
