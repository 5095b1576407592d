package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

func initCommand() *cobra.Command {
	var api generators.Init
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Begin an API of your own, or add a kind or a version to it",
		Long: `Begin an API of one kind in a Go module, empty or not: doc.go and types.go of
the version, and, unless there is one, a go:generate line that makes the rest:
deep copies, registration, clients, and the CustomResourceDefinition.

In a version that exists, it adds a kind. In a new version of a kind that
exists, it begins with the types and doc.go of the newest version, which stays
the stored one.

It replaces no file.`,
		Example: `  # in the module example.com/shop: the kind Bakery of shop.example.com/v1
  kubewright init --kind Bakery
  # a second kind, and a second version of the first
  kubewright init --kind Oven
  kubewright init --kind Bakery --version v2
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
			return printBegun(cmd.OutOrStdout(), begun)
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

// printBegun prints what init has written, and what comes next.
func printBegun(out io.Writer, begun *generators.Begun) error {
	var text strings.Builder
	for _, path := range begun.Changed {
		fmt.Fprintln(&text, "wrote", path)
	}
	if begun.DefaultGroup != "" {
		fmt.Fprintf(&text, "\nThe group is %s, %s; --group names another.\n", begun.DefaultGroup, begun.DefaultFrom)
	}
	text.WriteString("\nNext:\n")
	if begun.CopiedFrom == "" {
		fmt.Fprintf(&text, "  give %sSpec and %[1]sStatus fields, in %s\n", begun.Kind, begun.Types)
	} else {
		fmt.Fprintf(&text, "  change what was copied from %s, in %s\n", begun.CopiedFrom, begun.Types)
	}
	for _, advice := range begun.Advice {
		fmt.Fprintln(&text, " ", advice)
	}
	if !begun.HasTool {
		fmt.Fprintln(&text, "  go get -tool github.com/kubewright/kubewright/cmd/kubewright")
	}
	scale := ""
	if begun.HasMethods {
		scale = `
A +genclient:method with a type of another package, such as autoscaling/v1.Scale,
needs that type in the scheme.`
		if begun.Registers {
			scale += " Call autoscalingv1.AddToScheme where the package\nregisters its own types.\n"
		} else {
			scale += " Register it in a file beside the types:\n" +
				"  func init() { SchemeBuilder.Register(autoscalingv1.AddToScheme) }\n"
		}
	}
	makes, apply := "deep copies, registration, and clients in pkg/client", ""
	if begun.Definition != "" {
		makes = "deep copies, registration, clients in pkg/client, and the definition"
		apply = "  kubectl apply -f " + filepath.ToSlash(begun.Definition) + "\n"
	}
	fmt.Fprintf(&text, `  %-24s # %s
  %-24s # these need apimachinery and client-go
%s%s`, "go generate "+begun.Generate, makes, "go mod tidy", apply, scale)
	_, err := io.WriteString(out, text.String())
	return err
}
