package main

import (
	"errors"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/kubewright/kubewright/internal/move"
)

func moveCommand() *cobra.Command {
	o := move.Options{Dir: ".", ClientGo: clientGo, ControllerRuntime: movedControllerRuntime}
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Move a module from client-go's informers and queues to kubewright's, or back",
		Long: `Move the module in this folder from client-go's informers, tools/cache and
util/workqueue to kubewright's, or back. Without -w, move writes nothing: it
reports what it would change and what it can't, with file and line.

It changes the import paths of informers, tools/cache, util/workqueue,
dynamicinformer and metadatainformer in all hand-written files, gives managers
of controller-runtime a NewCache, and raises all of Kubernetes' modules in
go.mod together. It checks the types of all packages in memory. A package that
doesn't compile stays as it is, and so do packages that exchange values of a
type with it that differs; the report has the compiler's message.

With -w, it refuses to change a file that isn't committed. A second run changes
nothing.`,
		Example: `  kubewright move                              # report
  kubewright move -w                           # write
  kubewright move --back -w                    # return to client-go's packages
  kubewright move --kubewright ../kubewright   # without a release: use a clone`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("move takes no packages: it moves the module in this folder as a whole")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Version = released()
			var terminal io.Writer
			if hasEscapes(cmd.ErrOrStderr()) && isTerminal(cmd.OutOrStdout()) {
				terminal = cmd.ErrOrStderr()
			}
			clock := newStopwatch(terminal)
			o.Progress = clock.start
			report, err := move.Run(cmd.Context(), o)
			clock.start("")
			if err != nil && cmd.Context().Err() != nil {
				return errors.New("interrupted: nothing is written")
			}
			if err != nil {
				return err
			}
			_, err = report.WriteTo(cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().BoolVarP(&o.Write, "write", "w", false, "write the changes")
	cmd.Flags().BoolVar(&o.Back, "back", false, "return to client-go's packages. Versions in go.mod stay, "+
		"but right after -w, before a commit, go.mod and go.sum are restored, too")
	cmd.Flags().StringVar(&o.Clone, "kubewright", "", "a folder with a clone of kubewright, by which go.mod "+
		"replaces its modules; needed until there is a release")
	if err := cmd.MarkFlagDirname("kubewright"); err != nil {
		panic(err) // a flag that doesn't exist
	}
	return cmd
}

// movedControllerRuntime is the version of controller-runtime that a moved module requires.
const movedControllerRuntime = "v0.25.2"

// released returns the version of this program if a go.mod can require it, "" for one that was built in a
// clone.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !semver.IsValid(info.Main.Version) || semver.Build(info.Main.Version) != "" ||
		module.IsPseudoVersion(info.Main.Version) || info.Main.Version == "v0.0.0" {
		return ""
	}
	return info.Main.Version
}
