// Command kubewright makes clientsets, listers and informers of annotated
// Kubernetes API types.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// errReported ends a command whose problems have been printed.
var errReported = errors.New("reported")

func main() {
	// A run is short and its garbage fits into memory: collect it more rarely.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run executes the command and returns its exit status: 1 after any problem.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "kubewright",
		Short:         "Clientsets, listers and informers from annotated Kubernetes API types",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(generateCommand(), checkCommand(), versionCommand())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.ExecuteContext(ctx); {
	case err == nil:
		return 0
	case !errors.Is(err, errReported):
		fmt.Fprintln(stderr, "kubewright:", err)
	}
	return 1
}
