package generators

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/generators/marker"
)

// Tool is a command that takes the flags of one of code-generator's binaries and
// does what that does, but for what its output calls. It never removes a file.
type Tool struct {
	name   string
	flags  *pflag.FlagSet
	config func(patterns []string) (Config, error)
}

func newTool(name string) *Tool {
	t := &Tool{name: name, flags: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	// Upstream has klog's flags, -v above all; scripts pass them.
	logging := flag.NewFlagSet(name, flag.ContinueOnError)
	klog.InitFlags(logging)
	t.flags.AddGoFlagSet(logging)
	return t
}

// Run parses the arguments, generates, and reports to stderr. It returns the
// exit status: 1 if there was any problem but warnings, and then nothing was
// written.
func (t *Tool) Run(ctx context.Context, args []string, stderr io.Writer) int {
	t.flags.SetOutput(stderr)
	switch err := t.flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		return t.fail(stderr, FlagError(t.flags, err))
	}
	cfg, err := t.config(t.flags.Args())
	if err != nil {
		return t.fail(stderr, err)
	}
	plan, problems, err := Plan(ctx, cfg)
	if len(problems) > 0 {
		fmt.Fprintln(stderr, problems.Error())
	}
	if plan != nil && err == nil {
		err = plan.Apply(false)
	}
	switch {
	case err != nil:
		return t.fail(stderr, err)
	case problems.Fatal():
		return 1
	}
	return 0
}

// FlagError is an error of parsing flags: for a flag that there isn't, with the
// one that is meant, as far as one can tell.
func FlagError(flags *pflag.FlagSet, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	name := "--" + missing.GetSpecifiedName()
	var known, longer []string
	flags.VisitAll(func(f *pflag.Flag) {
		known = append(known, "--"+f.Name)
		if strings.HasPrefix("--"+f.Name, name+"-") {
			longer = append(longer, "--"+f.Name)
		}
	})
	if hint := marker.Suggest(name, known); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	if len(longer) > 0 && len(longer) <= 3 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(longer, " or "))
	}
	return err
}

func (t *Tool) fail(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "%s: %v\n", t.name, err)
	return 1
}
