package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func generateCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "generate package...",
		Short: "Write clientset, listers, informers and definitions for API packages",
		Long: `Write clientset, listers and informers for API packages, and apply
configurations if --with-applyconfig is given. With --crds-dir, also write
CustomResourceDefinitions from the types and controller-gen's markers.

Packages are named as for the go command: ./apis/... or import paths. The output
goes to pkg/client in the module's root, unless --output-dir or one of the other
-dir flags says otherwise. Files that are up to date are not touched.

Each file says below its header what it was made from (// Source:). Generated
files in the output folders whose API package, type, tag or flag is gone are
removed and listed. If their package exists and isn't named, or their type is in
a file that the go command leaves out, it is an error; --prune removes them.
So a run names all packages that share an output folder. Files that don't say
what they were made from stay, with a warning; --prune removes them, too.

If anything is wrong with the input, each problem is reported on a line of its
own as file:line:col: message, nothing is written, and the exit status is 2.`,
		Example: `  # everything below apis/, to pkg/client
  kubewright generate ./apis/...
  # also apply configurations, and a license above each file
  kubewright generate --with-applyconfig --go-header-file hack/boilerplate.go.txt ./apis/...
  # to another folder, relative to the working directory
  kubewright generate --output-dir ./client ./apis/shop/v1
  # in one Go file above the packages, for go generate ./apis/...
  //go:generate go tool kubewright generate ./...`,
		Args: needPackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return o.do(cmd, false, func(r *run) error { return r.generate(patterns) })
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
			return o.do(cmd, true, func(r *run) error { return r.generate(patterns) })
		},
	}
	o.addFlags(cmd, "count the files, also if there is no terminal",
		"print the files, the problems and the duration of each stage as JSON instead of a diff")
	return cmd
}

func needPackages(_ *cobra.Command, patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("no API packages given; ./apis/... stands for all packages below apis")
	}
	return nil
}
