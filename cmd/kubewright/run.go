package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

// options are the flags of the commands that generate.
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

// run is a run of one of these commands. It plans changes, once or several times, and settles each plan.
type run struct {
	*options
	cmd   *cobra.Command
	clock *stopwatch
	// checks is true for a run that writes nothing, but shows what isn't current.
	checks   bool
	plans    []*generators.Changes
	problems generators.Problems
	// next is the command that has to follow, "" for none.
	next string
}

// do runs the steps of a command, and prints a summary. With --json it prints a report to standard output,
// even if a step fails.
func (o *options) do(cmd *cobra.Command, checks bool, steps func(*run) error) error {
	var terminal io.Writer
	if hasEscapes(cmd.ErrOrStderr()) && isTerminal(cmd.OutOrStdout()) && !o.asJSON {
		terminal = cmd.ErrOrStderr()
	}
	r := &run{options: o, cmd: cmd, clock: newStopwatch(terminal), checks: checks}
	err := steps(r)
	r.clock.start("")
	if err == nil {
		r.warnGoGenerate()
		r.summary()
	}
	if o.asJSON {
		err = errors.Join(err, newReport(r, err).write(cmd.OutOrStdout()))
	}
	return err
}

// generate plans and settles the code for the packages that the patterns name.
func (r *run) generate(patterns []string) error {
	cfg, err := r.Resolve(r.cmd.Context(), patterns)
	if err != nil {
		return err
	}
	return r.generateFrom(cfg)
}

// generateFrom is generate for a resolved configuration.
func (r *run) generateFrom(cfg generators.Config) error {
	cfg.Progress = r.clock.start
	changes, err := r.plan(generators.Plan(r.cmd.Context(), cfg))
	if err != nil {
		return err
	}
	return r.writeOrCheck(changes)
}

// plan records the results of planning, and prints the problems. The error is errReported if one of them
// is fatal.
func (r *run) plan(changes *generators.Changes, problems generators.Problems,
	err error) (*generators.Changes, error) {
	r.clock.start("")
	if len(problems) > 0 {
		fmt.Fprintln(r.cmd.ErrOrStderr(), problems.Error())
	}
	r.problems = append(r.problems, problems...)
	if err == nil && problems.Fatal() {
		err = errReported
	}
	if changes != nil {
		r.plans = append(r.plans, changes)
	}
	return changes, err
}

// writeOrCheck writes the changes. A check shows them instead, and fails if there are any.
func (r *run) writeOrCheck(changes *generators.Changes) error {
	switch {
	case !r.checks:
		return r.write(changes)
	case changes.Current():
		return nil
	case !r.asJSON:
		out := r.cmd.OutOrStdout()
		if err := changes.WriteDiff(out, hasColours(out)); err != nil {
			return err
		}
	}
	command := "kubewright generate with the same arguments"
	if r.cmd.Name() == "import" {
		command = "kubewright import without --check"
	}
	return notCurrentError{command, len(changes.Changed), len(changes.Stale), len(changes.LineEnds)}
}

func (r *run) write(changes *generators.Changes) error {
	r.clock.start("write")
	if err := changes.Apply(true); err != nil {
		r.plans = r.plans[:len(r.plans)-1] // the report must not list files as written
		return err
	}
	r.clock.start("")
	out := r.cmd.ErrOrStderr()
	if r.verbose > 0 {
		for _, path := range changes.Changed {
			fmt.Fprintf(out, "wrote %s\n", path)
		}
	}
	if !r.asJSON || r.verbose > 0 { // with --json the report lists deletions
		for _, path := range changes.Stale {
			fmt.Fprintf(out, "removed %s, which is not generated from these packages\n", path)
		}
	}
	return nil
}

// warnGoGenerate explains the error that go generate ./... is about to print: it lists the files of all
// packages before it runs the first line, and fails at those that are gone when it comes to them.
func (r *run) warnGoGenerate() {
	removed := func(plan *generators.Changes) bool { return len(plan.Stale) > 0 }
	if !r.checks && os.Getenv("GOFILE") != "" && slices.ContainsFunc(r.plans, removed) {
		fmt.Fprintln(r.cmd.ErrOrStderr(),
			"go generate ./... stops at removed files; name the folder of the APIs, or run it again")
	}
}

// speaks reports whether to print more than results: at a terminal without --json, or with -v.
func (r *run) speaks() bool {
	return r.verbose > 0 || isTerminal(r.cmd.ErrOrStderr()) && !r.asJSON
}

// summary prints the numbers of files and the next command, for a person at a terminal or with -v. On a
// terminal it also prints the duration.
func (r *run) summary() {
	written, removed, current := 0, 0, 0
	for _, plan := range r.plans {
		written, removed, current = written+len(plan.Changed), removed+len(plan.Stale), current+plan.Unchanged
	}
	text := count(current, "file") + " current"
	if !r.checks {
		text = fmt.Sprintf("%s written, %d removed, %d current", count(written, "file"), removed, current)
	}
	switch out := r.cmd.ErrOrStderr(); {
	case isTerminal(out) && !r.asJSON:
		fmt.Fprintf(out, "%s (%.1f s)\n", text, r.clock.seconds()["total"])
	case r.verbose > 0:
		fmt.Fprintln(out, text)
	}
	if r.next != "" && r.speaks() {
		fmt.Fprintf(r.cmd.ErrOrStderr(), "\nNext:\n  %s\n", r.next)
	}
}

// notCurrentError is the result of a check that found something to change. changed includes the lineEnds
// files that differ in their line ends only.
type notCurrentError struct {
	remedy                   string // the command that makes it current
	changed, stale, lineEnds int
}

func (e notCurrentError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "not current: %s to write", count(e.changed, "file"))
	if e.lineEnds > 0 {
		fmt.Fprintf(&text, " (line ends only: %d)", e.lineEnds)
	}
	fmt.Fprintf(&text, ", %d stale; run %s", e.stale, e.remedy)
	if e.lineEnds > 0 {
		text.WriteString(`, and keep git from converting line ends: "*.go text eol=lf" in .gitattributes`)
	}
	return text.String()
}
