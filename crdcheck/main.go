package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/generators"
)

// The exit statuses.
const (
	accepted = iota
	refused
	failed
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// run checks the definitions of the packages, and returns the exit status.
func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	options := generators.DefinitionOptions{MaxDescription: -1}
	flags := pflag.NewFlagSet("crdcheck", pflag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(out, "Check the definitions of Go types, as an API server does.\n\n",
			"usage: crdcheck [packages] [flags]\n\n",
			"The exit status is 1 if a definition is refused or a package can't be read, 2 if there are none.\n\n",
			flags.FlagUsages())
	}
	flags.BoolVar(&options.AllowFloats, "crds-allow-floats", false,
		"accept float32 and float64, as kubewright generate does with this flag")
	flags.BoolVar(&options.EmbeddedMetadata, "crds-embedded-metadata", false,
		"give the metadata of embedded objects a schema, as kubewright generate does with this flag")
	if err := flags.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return accepted, nil
	} else if err != nil {
		return failed, fmt.Errorf("crdcheck: %w", err)
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	cfg := generators.Config{Definitions: &options} // What only kubewright generate refuses is a warning.
	for _, pattern := range patterns {
		cfg.Inputs = append(cfg.Inputs, generators.Input{Pattern: pattern})
	}
	definitions, problems, err := generators.Definitions(ctx, cfg)
	for _, p := range problems {
		fmt.Fprintln(out, p)
	}
	switch {
	case err != nil:
		return failed, fmt.Errorf("crdcheck: %w", err)
	case problems.Fatal():
		return refused, nil
	case len(definitions) == 0:
		return failed, fmt.Errorf("crdcheck: no type in %v embeds TypeMeta and ObjectMeta in a package with a "+
			"group, and without +kubebuilder:skip", patterns)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	bad := 0
	var all []finding
	for _, d := range definitions {
		found, err := check(ctx, scheme, d)
		if err != nil {
			return failed, fmt.Errorf("crdcheck: %s: %w", d.File, err)
		}
		if slices.ContainsFunc(found, func(f finding) bool { return !f.warning }) {
			bad++
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, finding.compare)
	for _, f := range all {
		fmt.Fprintln(out, f)
	}
	if bad > 0 {
		fmt.Fprintf(out, "definitions that servers refuse: %d of %d\n", bad, len(definitions))
		return refused, nil
	}
	fmt.Fprintf(out, "definitions that servers accept: all %d\n", len(definitions))
	return accepted, nil
}
