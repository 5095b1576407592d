package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubewright/kubewright/generators"
)

func generateCommand() *cobra.Command {
	var layout generators.Layout
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "generate package...",
		Short: "Write clientset, listers and informers for API packages",
		Long: `Write clientset, listers and informers for API packages, and apply
configurations if --with-applyconfig is given.

Packages are named as for the go command: ./apis/... or import paths. The output
goes to pkg/client in the module's root, unless --output-dir or one of the other
-dir flags says otherwise. Files that are up to date are not touched. Generated
files in the output folders whose API package, type, tag or flag is gone are
removed and listed. If their package exists and isn't named, or their type is in
a file that the go command leaves out, it is an error; --prune removes them.
So a run names all packages that share an output folder.

If anything is wrong with the input, each problem is reported on a line of its
own as file:line:col: message, nothing is written, and the exit status is 1.`,
		Example: `  # everything below apis/, to pkg/client
  kubewright generate ./apis/...
  # also apply configurations, and a license above each file
  kubewright generate --with-applyconfig --go-header-file hack/boilerplate.go.txt ./apis/...
  # to another folder, relative to the working directory
  kubewright generate --output-dir ./client ./apis/shop/v1
  # in one Go file above the packages, for go generate ./...
  //go:generate go tool kubewright generate ./...`,
		Args: needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return run(cmd, layout, patterns, asJSON, func(plan *generators.Changes, clock *stopwatch) error {
				clock.start("write")
				if err := plan.Apply(true); err != nil {
					return err
				}
				clock.start("")
				if !asJSON {
					fmt.Fprint(cmd.ErrOrStderr(), removed(plan.Stale))
				}
				if isTerminal(cmd.OutOrStdout()) && !asJSON {
					fmt.Fprintf(cmd.OutOrStdout(), "%d files written, %d removed, %d were current (%.1f s)\n",
						len(plan.Changed), len(plan.Stale), plan.Unchanged, clock.seconds()["total"])
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print the files, the problems and the duration of each stage as JSON")
	layout.AddFlags(cmd.Flags())
	return cmd
}

func checkCommand() *cobra.Command {
	var layout generators.Layout
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check package...",
		Short: "Show what generate would change",
		Long: `Show what generate would change, given the same arguments.

It writes nothing. If a file is not current, it prints a unified diff and the
stale files, and the exit status is 1. What generate refuses, check refuses, too.`,
		Example: `  # in CI, with the arguments of generate
  kubewright check ./apis/...
  # only the names of the files that are not current
  kubewright check --json ./apis/... | jq -r '.files[] | select(.state != "current") | .path'`,
		Args: needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return run(cmd, layout, patterns, asJSON, func(plan *generators.Changes, clock *stopwatch) error {
				clock.start("")
				if plan.Current() {
					return nil
				}
				if !asJSON {
					if err := plan.WriteDiff(cmd.OutOrStdout()); err != nil {
						return err
					}
				}
				return fmt.Errorf("not current: %d files to write, %d stale; run kubewright generate",
					len(plan.Changed), len(plan.Stale))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print the files, the problems and the duration of each stage as JSON instead of a diff")
	layout.AddFlags(cmd.Flags())
	return cmd
}

// run plans the changes, prints the problems of the input, and calls rest unless one of them
// is fatal. With asJSON it prints a report to standard output in any case.
func run(cmd *cobra.Command, layout generators.Layout, patterns []string, asJSON bool,
	rest func(*generators.Changes, *stopwatch) error) error {
	var terminal io.Writer
	if isTerminal(cmd.ErrOrStderr()) && isTerminal(cmd.OutOrStdout()) {
		terminal = cmd.ErrOrStderr()
	}
	clock := newStopwatch(terminal)
	plan, problems, err := plan(cmd, layout, patterns, clock)
	clock.start("")
	if len(problems) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), problems.Error())
	}
	if err == nil && !problems.Fatal() {
		err = rest(plan, clock)
		clock.start("")
	}
	if asJSON {
		err = errors.Join(err, newReport(cmd.Name(), plan, problems, err, clock).write(cmd.OutOrStdout()))
	}
	if err == nil && problems.Fatal() {
		err = errReported
	}
	return err
}

func plan(cmd *cobra.Command, layout generators.Layout, patterns []string,
	clock *stopwatch) (*generators.Changes, generators.Problems, error) {
	cfg, err := layout.Resolve(cmd.Context(), patterns)
	if err != nil {
		return nil, nil, err
	}
	cfg.Progress = clock.start
	return generators.Plan(cmd.Context(), cfg)
}

// removed lists the removed files: a deletion is never silent.
func removed(stale []string) string {
	var text strings.Builder
	for _, path := range stale {
		fmt.Fprintf(&text, "removed %s, which is not generated from these packages\n", path)
	}
	return text.String()
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func needPackages(_ *cobra.Command, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("no API packages given; ./apis/... stands for all packages below apis")
	}
	return nil
}
