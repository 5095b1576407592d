package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

func initCommand() *cobra.Command {
	var api generators.Init
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Begin an API of your own: types of a kind and its definition",
		Long: `Begin an API of one kind in a Go module, empty or not: doc.go and types.go of
the version, a minimal CustomResourceDefinition, and a go:generate line that
makes everything else, unless there is one.

It replaces no file. The definition keeps all fields and validates none; for a
schema, controller-gen writes one from the types.`,
		Example: `  # in the module example.com/shop: the kind Bakery of shop.example.com/v1
  kubewright init --kind Bakery
  # for the whole cluster, and of another group
  kubewright init --kind Market --group trade.example.com --version v1alpha1 --namespaced=false`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			begun, err := api.Plan(cmd.Context())
			if err != nil {
				return err
			}
			if err := begun.Apply(false); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, path := range begun.Changed {
				fmt.Fprintln(out, "wrote", path)
			}
			if begun.DefaultGroup != "" {
				fmt.Fprintf(out, "\nThe group is %s, after the module's path; --group names another.\n",
					begun.DefaultGroup)
			}
			fmt.Fprintf(out, "\nNext:\n  give %sSpec and %[1]sStatus fields, in %s\n", begun.Kind, begun.Types)
			if !begun.HasTool {
				fmt.Fprintln(out, "  go get -tool github.com/kubewright/kubewright/cmd/kubewright")
			}
			generate := "go generate " + begun.Generate
			_, err = fmt.Fprintf(out, `  %-24s # deep copies, registration, and clients in pkg/client
  %-24s # these need apimachinery and client-go
  kubectl apply -f %s
`, generate, "go mod tidy", filepath.ToSlash(begun.Definition))
			return err
		},
	}
	api.AddFlags(cmd.Flags())
	for _, flag := range []string{"apis-dir", "crds-dir"} {
		if err := cmd.MarkFlagDirname(flag); err != nil {
			panic(err) // a flag that doesn't exist
		}
	}
	return cmd
}
