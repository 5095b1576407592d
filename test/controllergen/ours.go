package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubewright/kubewright/generators"
)

// ours are the definitions that kubewright makes of a row, by the name of their file, from "---" on. It makes
// them in another process, as a process inherits the peak memory of the one that starts it, and would measure
// that.
func (r row) ours(ctx context.Context, dir string) (files map[string]string, problems string, err error) {
	out, err := os.MkdirTemp("", "controllergen")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(out)
	cmd, err := r.ownCommand(ctx, dir, out)
	if err != nil {
		return nil, "", err
	}
	text, failed := cmd.CombinedOutput()
	for line := range strings.Lines(string(text)) {
		problems += "  " + line
	}
	files, err = readFolder(out)
	return files, problems, errors.Join(failed, err)
}

// ownCommand is the command that makes the definitions of a row in a module, and writes them to a folder.
func (r row) ownCommand(ctx context.Context, dir, out string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	corpus, err := filepath.Abs("corpus.tsv")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-make", r.name)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CORPUS="+corpus, "OUT="+out)
	return cmd, nil
}

// makeOnly is what that command does.
func makeOnly(ctx context.Context, name string) error {
	rows, err := readCorpus(os.Getenv("CORPUS"))
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.name == name {
			return r.makeOnly(ctx, os.Getenv("OUT"))
		}
	}
	return fmt.Errorf("no row %s", name)
}

func (r row) makeOnly(ctx context.Context, out string) error {
	cfg := generators.Config{Definitions: &generators.DefinitionOptions{MaxDescription: -1,
		AllowFloats: r.has("allowDangerousTypes"), EmbeddedMetadata: r.has("generateEmbeddedObjectMeta")}}
	for _, p := range r.packages {
		cfg.Inputs = append(cfg.Inputs, generators.Input{Pattern: p})
	}
	all, problems, err := generators.Definitions(ctx, cfg)
	if len(problems) > 0 {
		fmt.Println(problems.Error())
	}
	if err == nil && problems.Fatal() {
		err = errors.New("kubewright refuses the row")
	}
	for _, d := range all {
		if err := os.WriteFile(filepath.Join(out, d.File), d.Text, 0o644); err != nil {
			return err
		}
	}
	return err
}
