package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// judge reports whether crdcheck and an API server say the same of the definitions of a row, whose module is
// in dir. The program that finds out is of another module, which has an API server.
func (r row) judge(ctx context.Context, dir string) (alike bool, err error) {
	files, _, err := r.ours(ctx, dir)
	if err != nil {
		return false, err
	}
	out, err := os.MkdirTemp("", "controllergen")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(out)
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(out, file), []byte(text), 0o644); err != nil {
			return false, err
		}
	}
	args := []string{"run", ".", dir, out}
	for option, flag := range map[string]string{"allowDangerousTypes": "--crds-allow-floats",
		"generateEmbeddedObjectMeta": "--crds-embedded-metadata"} {
		if r.has(option) {
			args = append(args, flag)
		}
	}
	cmd := exec.CommandContext(ctx, "go", append(args, r.packages...)...)
	cmd.Dir = filepath.Join("..", "..", "generators", "crdtest", "judge")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err = cmd.Run(); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}
