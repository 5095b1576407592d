package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubewright/kubewright/generators"
)

func generateCommand() *cobra.Command {
	var layout generators.Layout
	cmd := &cobra.Command{
		Use:   "generate package...",
		Short: "Write clientset, listers and informers for API packages",
		Long: `Write clientset, listers and informers for API packages, and apply
configurations if asked to.

Packages are named as for the go command: ./apis/... or import paths. What is
written goes to pkg/client in the module's root; --output-dir and its kin say
otherwise. Files that are as they should be are not touched; generated files in
the output folders that nothing generates any more are removed.

If anything is wrong with the input, every problem is reported in a line of its
own as file:line:col: message, nothing is written, and the exit status is 1.`,
		Example: "  kubewright generate ./apis/...\n  kubewright generate --with-applyconfig ./apis/...",
		Args:    needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			start := time.Now()
			plan, err := plan(cmd, layout, patterns)
			if err != nil {
				return err
			}
			if err := plan.Apply(true); err != nil {
				return err
			}
			if isTerminal(cmd.OutOrStdout()) {
				fmt.Fprintf(cmd.OutOrStdout(), "%d files written, %d removed, %d were current (%.1f s)\n",
					len(plan.Changed), len(plan.Stale), plan.Unchanged, time.Since(start).Seconds())
			}
			return nil
		},
	}
	layout.AddFlags(cmd.Flags())
	return cmd
}

func checkCommand() *cobra.Command {
	var layout generators.Layout
	cmd := &cobra.Command{
		Use:   "check package...",
		Short: "Say what generate would change",
		Long: `Say what generate, with the same arguments, would change.

It writes nothing. If something is not current, it prints a unified diff and the
stale files, and the exit status is 1.`,
		Example: "  kubewright check ./apis/...",
		Args:    needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			plan, err := plan(cmd, layout, patterns)
			if err != nil {
				return err
			}
			if plan.Current() {
				return nil
			}
			if err := plan.WriteDiff(cmd.OutOrStdout()); err != nil {
				return err
			}
			return fmt.Errorf("not current: %d files to write, %d stale; run kubewright generate", len(plan.Changed), len(plan.Stale))
		},
	}
	layout.AddFlags(cmd.Flags())
	return cmd
}

// plan runs the pipeline and reports the problems of the input.
func plan(cmd *cobra.Command, layout generators.Layout, patterns []string) (*generators.Changes, error) {
	cfg, err := layout.Resolve(patterns)
	if err != nil {
		return nil, err
	}
	plan, problems, err := generators.Plan(cmd.Context(), cfg)
	if len(problems) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), problems.Error())
	}
	if err == nil && problems.Fatal() {
		err = errReported
	}
	return plan, err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func needPackages(_ *cobra.Command, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("no API packages are named; ./apis/... would name all below apis")
	}
	return nil
}
