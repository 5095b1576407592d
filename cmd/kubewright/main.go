// Command kubewright generates clientsets, listers, informers and apply configurations from
// annotated Kubernetes API types.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

// errReported is the error of a command that has printed its problems already.
var errReported = errors.New("reported")

func main() {
	// A run is short and its garbage fits into memory, so collect it less often.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// requireShell makes "completion" without a known shell an error. Cobra would print its help
// and succeed, and the shell that sources the output would run the help as a script.
func requireShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra added no such command
	}
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		var names []string
		for _, shell := range cmd.Commands() {
			names = append(names, shell.Name())
		}
		return fmt.Errorf("completion: name a shell: %s", strings.Join(names, ", "))
	}
}

// execute runs the command and returns its exit status: 0, or 1 after any problem other than
// warnings.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "kubewright",
		Short: "Clientsets, listers and informers from annotated Kubernetes API types",
		Long: `Clientsets, listers, informers and apply configurations from annotated
Kubernetes API types: drop-in for k8s.io/code-generator, in one command.

A type with // +genclient above it gets a client, a lister and an informer.`,
		Example: `  kubewright generate ./apis/...   # write the code
  kubewright check ./apis/...      # fail with a diff if it is not current
  source <(kubewright completion bash)`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(generateCommand(), checkCommand(), importCommand(), versionCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return generators.FlagError(cmd.Flags(), err)
	})
	requireShell(root)
	root.SetVersionTemplate("{{.Version}}\n")
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
