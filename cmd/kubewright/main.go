// Command kubewright generates clientsets, listers, informers, apply configurations and the
// code in API packages from annotated Kubernetes API types, and such types from
// CustomResourceDefinitions.
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

// The exit statuses other than 0. They let a script distinguish outdated code from a check
// that failed.
const (
	statusNotCurrent = 1
	statusFindings   = 1
	statusFailed     = 2
)

func main() {
	// A run is short and its garbage fits into memory, so collect it less often.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// execute runs the command and returns its exit status: 0 also after warnings.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "kubewright",
		Short: "Clientsets, listers and informers from annotated Kubernetes API types",
		Long: `Clientsets, listers, informers and apply configurations from annotated
Kubernetes API types, and deep copies, registration and defaults: drop-in for
client-gen, lister-gen, informer-gen, applyconfiguration-gen, deepcopy-gen,
register-gen and defaulter-gen of k8s.io/code-generator, in one command. Also
CustomResourceDefinitions.

A type with // +genclient above it gets a client, a lister and an informer.`,
		Example: `  kubewright generate ./apis/...   # write the code
  kubewright check ./apis/...      # fail with a diff if it is not current
  kubewright import crds           # types and code for CustomResourceDefinitions
  kubewright init --kind Bakery    # begin an API of your own
  source <(kubewright completion bash)`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	generate, check := generateCommand(), checkCommand()
	imports := importCommand()
	root.AddCommand(generate, check, imports, initCommand(), moveCommand(), eyesCommand(), versionCommand())
	// Files are completed only where they make sense.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	if err := errors.Join(completePackages(generate), completePackages(check), completeValues(imports),
		imports.MarkFlagDirname("apis-dir")); err != nil {
		panic(err) // a flag that doesn't exist
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return generators.FlagError(cmd.Flags(), err)
	})
	requireShell(root)
	if width := terminalWidth(stdout); width > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "Flags.FlagUsages ",
			fmt.Sprintf("Flags.FlagUsagesWrapped %d ", width)))
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	var err error
	if len(args) > 0 && (args[0] == generate.Name() || args[0] == check.Name()) {
		err = generators.HelpError(args)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return 0
	}
	if !errors.Is(err, errReported) {
		fmt.Fprintln(stderr, "kubewright:", err)
	}
	if _, ok := errors.AsType[notCurrentError](err); ok {
		return statusNotCurrent
	}
	if _, ok := errors.AsType[errFindings](err); ok {
		return statusFindings
	}
	return statusFailed
}
