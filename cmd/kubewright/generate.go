package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

func generateCommand() *cobra.Command {
	var o options
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
own as file:line:col: message, nothing is written, and the exit status is 2.`,
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
			return o.run(cmd, patterns, func(plan *generators.Changes, clock *stopwatch) error {
				clock.start("write")
				if err := plan.Apply(true); err != nil {
					return err
				}
				clock.start("")
				out := cmd.ErrOrStderr()
				if o.verbose > 0 {
					fmt.Fprint(out, written(plan.Changed))
				}
				if !o.asJSON || o.verbose > 0 {
					fmt.Fprint(out, removed(plan.Stale))
				}
				o.summary(out, clock, fmt.Sprintf("%s written, %d removed, %d current",
					count(len(plan.Changed), "file"), len(plan.Stale), plan.Unchanged))
				return nil
			})
		},
	}
	o.addFlags(cmd, "list the files that are written, and count the others, also if there is no terminal",
		"print the files, the problems and the duration of each stage as JSON")
	return cmd
}

func checkCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "check package...",
		Short: "Show what generate would change",
		Long: `Show what generate would change, given the same arguments.

It writes nothing. If a file is not current, it prints a unified diff and the
stale files, and the exit status is 1. It is 2 if anything else is wrong, such as
the input, or files that generate would not remove either.`,
		Example: `  # in CI, with the arguments of generate
  kubewright check ./apis/...
  # only the names of the files that are not current
  kubewright check --json ./apis/... | jq -r '.files[] | select(.state != "current") | .path'`,
		Args: needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return o.run(cmd, patterns, func(plan *generators.Changes, clock *stopwatch) error {
				clock.start("")
				if plan.Current() {
					o.summary(cmd.ErrOrStderr(), clock, count(plan.Unchanged, "file")+" current")
					return nil
				}
				if !o.asJSON {
					out := cmd.OutOrStdout()
					if err := plan.WriteDiff(out, hasColours(out)); err != nil {
						return err
					}
				}
				return notCurrentError{len(plan.Changed), len(plan.Stale), len(plan.LineEnds)}
			})
		},
	}
	o.addFlags(cmd, "count the files, also if there is no terminal",
		"print the files, the problems and the duration of each stage as JSON instead of a diff")
	return cmd
}

// options are the flags of generate and check.
type options struct {
	generators.Layout
	asJSON  bool
	verbose int
}

func (o *options) addFlags(cmd *cobra.Command, verbose, asJSON string) {
	// A count, as scripts pass -v=2 to code-generator's binaries.
	cmd.Flags().CountVarP(&o.verbose, "verbose", "v", verbose)
	cmd.Flags().BoolVar(&o.asJSON, "json", false, asJSON)
	o.AddFlags(cmd.Flags())
}

// summary writes how a run went, for a person at a terminal, who sees how long it took, and
// with -v.
func (o *options) summary(w io.Writer, clock *stopwatch, text string) {
	switch {
	case isTerminal(w) && !o.asJSON:
		fmt.Fprintf(w, "%s (%.1f s)\n", text, clock.seconds()["total"])
	case o.verbose > 0:
		fmt.Fprintln(w, text)
	}
}

// notCurrentError is the result of a check that found something to change. Files that differ in
// their line ends only count as changed, too.
type notCurrentError struct{ changed, stale, lineEnds int }

func (e notCurrentError) Error() string {
	text := "not current: " + count(e.changed, "file") + " to write"
	if e.lineEnds > 0 {
		text += fmt.Sprintf(" (line ends only: %d)", e.lineEnds)
	}
	text += fmt.Sprintf(", %d stale; run kubewright generate", e.stale)
	if e.lineEnds > 0 {
		text += `, and keep git from converting line ends: "*.go text eol=lf" in .gitattributes`
	}
	return text
}

// run plans the changes, prints the problems of the input, and calls rest unless one of them
// is fatal. With --json it prints a report to standard output in any case.
func (o *options) run(cmd *cobra.Command, patterns []string,
	rest func(*generators.Changes, *stopwatch) error) error {
	var terminal io.Writer
	if hasEscapes(cmd.ErrOrStderr()) && isTerminal(cmd.OutOrStdout()) && !o.asJSON {
		terminal = cmd.ErrOrStderr()
	}
	clock := newStopwatch(terminal)
	plan, problems, err := o.plan(cmd.Context(), patterns, clock)
	clock.start("")
	if len(problems) > 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), problems.Error())
	}
	if err == nil && !problems.Fatal() {
		err = rest(plan, clock)
		clock.start("")
	}
	if o.asJSON {
		if _, checked := errors.AsType[notCurrentError](err); err != nil && !checked {
			plan = nil // what it says of files didn't happen
		}
		err = errors.Join(err, newReport(cmd.Name(), plan, problems, err, clock).write(cmd.OutOrStdout()))
	}
	if err == nil && problems.Fatal() {
		err = errReported
	}
	return err
}

func (o *options) plan(ctx context.Context, patterns []string,
	clock *stopwatch) (*generators.Changes, generators.Problems, error) {
	cfg, err := o.Resolve(ctx, patterns)
	if err != nil {
		return nil, nil, err
	}
	cfg.Progress = clock.start
	return generators.Plan(ctx, cfg)
}

// written lists the written files.
func written(changed []string) string {
	var text strings.Builder
	for _, path := range changed {
		fmt.Fprintf(&text, "wrote %s\n", path)
	}
	return text.String()
}

// removed lists the removed files: a deletion is never silent.
func removed(stale []string) string {
	var text strings.Builder
	for _, path := range stale {
		fmt.Fprintf(&text, "removed %s, which is not generated from these packages\n", path)
	}
	return text.String()
}

func needPackages(_ *cobra.Command, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("no API packages given; ./apis/... stands for all packages below apis")
	}
	return nil
}
