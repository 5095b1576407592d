package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

func importCommand() *cobra.Command {
	var from generators.Import
	cmd := &cobra.Command{
		Use:   "import file|folder|-...",
		Short: "Write Go types for CustomResourceDefinitions",
		Long: `Write the Go types of all served versions of CustomResourceDefinitions.

The manifests are YAML or JSON, in files, in folders or on standard input (-).
Other objects in them are ignored. The types of example.com/v1 go to
apis/example/v1: doc.go, and a file for each kind. Run import again when the
definition has changed; hand-written files beside the types stay. Then kubewright
generate makes deep copies, registration and clients of the packages.

If anything is wrong with a manifest, each problem is reported on a line of its
own as file:line:col: path: message, nothing is written, and the exit status
is 2.`,
		Example: `  # the types of cert-manager, to apis/certmanager/v1 and apis/acme/v1
  kubewright import cert-manager.crds.yaml && kubewright generate ./apis/...
  # of a definition in a cluster
  kubectl get crd certificates.cert-manager.io -o yaml | kubewright import -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no manifests given; name files or folders, or - for standard input")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			from.Stdin = cmd.InOrStdin()
			plan, problems, err := from.Plan(cmd.Context(), args)
			if len(problems) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), problems.Error())
			}
			switch {
			case err != nil:
				return err
			case problems.Fatal():
				return errReported
			}
			return plan.Apply(false)
		},
	}
	from.AddFlags(cmd.Flags())
	if err := errors.Join(cmd.MarkFlagDirname("output-dir"), cmd.RegisterFlagCompletionFunc("go-header-file",
		cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault))); err != nil {
		panic(err) // a flag that doesn't exist
	}
	return cmd
}
