package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"
)

// clientGo is the version of client-go that generated code and the runtime are made for: that of go.mod.
const clientGo = "v0.37.2"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and which modules of the current module don't fit it",
		Long: `version prints the version of kubewright, and the minor version of client-go that it is for. In a module
that requires client-go, it also prints that version, and the commands that raise what has to be raised.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(cmd.OutOrStdout(), version())
			return printModule(cmd.Context(), cmd.OutOrStdout())
		},
	}
}

// version is the output of --version, and the first line of the command version.
func version() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return fmt.Sprintf("kubewright %s, for k8s.io/client-go %s", version, semver.MajorMinor(clientGo))
}

// printModule prints how the current module fits, if it requires client-go.
func printModule(ctx context.Context, out io.Writer) error {
	file, err := currentGoMod(ctx)
	if err != nil || file == "" {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fit, err := fitOf(file, text)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, fit)
	return err
}
