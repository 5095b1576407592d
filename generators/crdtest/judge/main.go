// Judge compares what crdcheck and an embedded API server say of the definitions that kubewright makes of
// types: whether servers accept them, and the paths of the fields for which they don't. The first argument is
// the folder of the module, the second that of the definitions, and the others are crdcheck's. It exits with
// 1 if the two differ.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubewright/kubewright/generators"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: judge MODULE DEFINITIONS PACKAGE ...")
		os.Exit(2)
	}
	equal, err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(2)
	}
	if !equal {
		os.Exit(1)
	}
}

func run(ctx context.Context, module, folder string, args []string) (equal bool, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return false, err
	}
	var definitions []generators.Definition
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		definitions = append(definitions, generators.Definition{File: filepath.Base(file), Text: text})
	}
	bin, err := os.MkdirTemp("", "judge")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(bin)
	j, err := newJudge(ctx, bin)
	if err != nil {
		return false, err
	}
	defer j.server.Stop()
	v, err := j.compare(ctx, module, args, definitions)
	fmt.Print(v.text)
	return v.equal == len(definitions), err
}
