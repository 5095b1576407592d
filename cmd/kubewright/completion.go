package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubewright/kubewright/generators"
)

// requireShell makes "completion" without a known shell an error. Cobra would print its help
// and succeed, and the shell that sources the output would run the help as a script.
func requireShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra added no such command
	}
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		var names []string
		for _, shell := range cmd.Commands() {
			names = append(names, shell.Name())
		}
		return fmt.Errorf("completion: name a shell: %s", strings.Join(names, ", "))
	}
}

// completePackages lets the shell complete package arguments and the values of completeValues.
func completePackages(cmd *cobra.Command) error {
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, word string) ([]string,
		cobra.ShellCompDirective) {
		return packagesLike(word), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
	return completeValues(cmd)
}

// completeValues lets the shell complete those values of generate's flags that are folders, files or rules.
func completeValues(cmd *cobra.Command) error {
	for _, flag := range []string{
		"output-dir", "clientsets-dir", "listers-dir", "informers-dir", "applyconfig-dir", "crds-dir",
	} {
		if err := cmd.MarkFlagDirname(flag); err != nil {
			return err
		}
	}
	files := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	return errors.Join(
		cmd.RegisterFlagCompletionFunc("go-header-file", files),
		cmd.RegisterFlagCompletionFunc("crds-header-file", files),
		cmd.MarkFlagFilename("applyconfig-openapi-schema", "json"),
		cmd.RegisterFlagCompletionFunc("lint-rules", func(_ *cobra.Command, _ []string,
			word string) ([]string, cobra.ShellCompDirective) {
			return rulesLike(word), cobra.ShellCompDirectiveNoFileComp
		}),
	)
}

// packagesLike completes a word to package patterns: folders on the disk, and ... for all packages below.
func packagesLike(word string) []string {
	if word == "" || word == "." {
		word = "./"
	}
	if !strings.HasPrefix(word, ".") && !strings.HasPrefix(word, "/") {
		return nil // an import path
	}
	parent, start := path.Split(word)
	var patterns []string
	for _, name := range folders(parent) {
		if !strings.HasPrefix(name, start) {
			continue
		}
		if len(folders(parent+name)) > 0 {
			name += "/"
		}
		patterns = append(patterns, parent+name)
	}
	if strings.HasPrefix("...", start) {
		patterns = append(patterns, parent+"...")
	}
	return patterns
}

// folders returns the folders that the go command looks at in dir, sorted.
func folders(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() && name[0] != '.' && name[0] != '_' && name != "testdata" && name != "vendor" {
			names = append(names, name)
		}
	}
	return names
}

// rulesLike returns the values of --lint-rules that begin with a word. Its rules are separated by commas,
// and the last one may be incomplete.
func rulesLike(word string) []string {
	before, start := "", word
	if comma := strings.LastIndex(word, ","); comma >= 0 {
		before, start = word[:comma+1], word[comma+1:]
	}
	var values []string
	for _, rule := range generators.LintRules() {
		if strings.HasPrefix(rule, start) && !slices.Contains(strings.Split(before, ","), rule) {
			values = append(values, before+rule)
		}
	}
	return values
}
