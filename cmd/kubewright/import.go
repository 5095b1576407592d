package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubewright/kubewright/generators"
)

func importCommand() *cobra.Command {
	var o options
	var types generators.Import
	var typesOnly, checks bool
	cmd := &cobra.Command{
		Use:   "import file|folder|-...",
		Short: "Write Go types and clients for CustomResourceDefinitions",
		Long: `Write the Go types of all served versions of CustomResourceDefinitions, and
what generate writes for them.

The manifests are YAML or JSON, in files, in folders or on standard input (-).
Other objects in them are ignored. The types of example.com/v1 go to
apis/example/v1: doc.go, and a file for each kind. Then the run generates for all
packages below apis, with the flags of generate. Run import again when a
definition has changed; hand-written files beside the types stay.

If anything is wrong with a manifest, each problem is reported on a line of its
own as file:line:col: path: message, nothing is written, and the exit status
is 2.`,
		Example: `  # cert-manager's types, to apis/certmanager/v1 and apis/acme/v1, and clients to pkg/client
  kubewright import cert-manager.crds.yaml
  # those of a definition in a cluster
  kubectl get crd certificates.cert-manager.io -o yaml | kubewright import -
  # only the types, to another folder
  kubewright import --types-only --apis-dir ./internal/apis crds
  # in CI: a diff and exit status 1 if anything is stale
  kubewright import --check crds`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no manifests given; name files or folders, or - for standard input")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			types.Stdin, types.HeaderFile = cmd.InOrStdin(), o.HeaderFile
			return o.do(cmd, checks, func(r *run) error { return r.importTypes(&types, args, typesOnly) })
		},
	}
	cmd.Flags().BoolVar(&typesOnly, "types-only", false, "write the types, and generate nothing from them")
	cmd.Flags().BoolVar(&checks, "check", false,
		"write nothing; print a diff and exit with status 1 if a file is not current")
	types.AddFlags(cmd.Flags())
	o.addFlags(cmd, "list the files that are written, and count the others, also if there is no terminal",
		"print the files, the problems and the duration of each stage as JSON")
	return cmd
}

// importTypes plans and settles the types, and then the code that generate makes for all packages in
// their folder.
func (r *run) importTypes(types *generators.Import, from []string, typesOnly bool) error {
	var cfg generators.Config
	var err error
	if typesOnly {
		err = r.checkTypesOnly()
	} else { // before anything is written
		cfg, err = r.Resolve(r.cmd.Context(), []string{types.Packages()})
	}
	if err != nil {
		return err
	}
	r.clock.start("import")
	changes, err := r.plan(types.Plan(r.cmd.Context(), from))
	if err != nil {
		return err
	}
	// A check that finds outdated types ends here: the generated code depends on types that are not
	// on the disk.
	if err := r.writeOrCheck(changes); err != nil {
		return err
	}
	if !r.checks && r.verbose == 0 && r.speaks() { // write lists them with -v
		for _, path := range changes.Changed {
			fmt.Fprintln(r.cmd.ErrOrStderr(), "wrote", path)
		}
	}
	if !r.checks && len(changes.Changed) > 0 {
		r.next = "go mod tidy           # the types need apimachinery, the generated code client-go"
	}
	if typesOnly {
		return nil
	}
	err = r.generateFrom(cfg)
	if err != nil && !r.checks && len(changes.Changed) > 0 {
		fmt.Fprintln(r.cmd.ErrOrStderr(), "kubewright: the types are written, but the code for them is not")
	}
	return err
}

// checkTypesOnly reports flags of generate, which have no effect on the types.
func (r *run) checkTypesOnly() error {
	var err error
	generate := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(generators.Layout).AddFlags(generate)
	r.cmd.Flags().Visit(func(flag *pflag.Flag) {
		if generate.Lookup(flag.Name) != nil && flag.Name != "go-header-file" {
			err = errors.Join(err,
				errors.New("--"+flag.Name+" has no effect with --types-only; leave out one of them"))
		}
	})
	return err
}
