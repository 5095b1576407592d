package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// environment is what measurements depend on: the machine, and the versions of both sides.
type environment struct {
	CPU, Memory, System string
	Cores               int
	Go                  string
	ClientGo, CodeGen   string
	Commit              string
}

// withChanges is the suffix of a commit from which the checkout differs.
const withChanges = " with changes"

// currentEnvironment returns the environment of this run, except for the CPU.
func currentEnvironment(ctx context.Context) (environment, error) {
	e := environment{Memory: memory(), System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	var changes string
	for _, c := range []struct {
		field   *string
		dir     string
		command []string
	}{
		{&e.Go, ".", []string{"go", "env", "GOVERSION"}},
		{&e.ClientGo, ".", []string{"go", "list", "-m", "-f", "{{.Version}}", "k8s.io/client-go"}},
		{&e.CodeGen, "test/parity", []string{"go", "list", "-m", "-f", "{{.Version}}", "k8s.io/code-generator"}},
		{&e.Commit, ".", []string{"git", "rev-parse", "--short=12", "HEAD"}},
		{&changes, ".", []string{"git", "status", "--porcelain", "--", ".", ":!*.md", ":!*.svg", ":!*.tsv"}},
	} {
		out, err := output(ctx, filepath.Join(root, c.dir), c.command[0], c.command[1:]...)
		if err != nil {
			return e, err
		}
		*c.field = strings.TrimSpace(out)
	}
	if changes != "" {
		e.Commit += withChanges
	}
	return e, nil
}

// memory returns the size of the machine's memory, if the system reports it.
func memory() string {
	text, _ := os.ReadFile("/proc/meminfo")
	var kb float64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %f kB", &kb); err != nil {
		return "unknown size"
	}
	return fmt.Sprintf("%.1f GiB", kb/(1<<20))
}
