package kube

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	mainModule    = "github.com/kubewright/kubewright"
	scratchModule = "example.com/scratch"
	programs      = "testdata/scratch" // what is copied into the module
)

// scratch is a module that has what kubewright generates of k8s.io/api, and
// programs that use it.
type scratch struct{ dir, root string }

// newScratch makes the module, without anything generated yet, in its folder.
func newScratch(ctx context.Context) (*scratch, error) {
	root, err := run(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", mainModule)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	// One for each checkout.
	s := &scratch{filepath.Join(cache, "kubewright", fmt.Sprintf("scratch-%.6x", sha256.Sum256([]byte(root)))), root}
	if err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(s.dir, 0o755)); err != nil {
		return nil, err
	}
	if err := os.CopyFS(s.dir, os.DirFS(programs)); err != nil {
		return nil, err
	}
	if err := s.requireLike(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// requireLike gives the module the requirements of test/e2e, and that module's
// packages besides.
func (s *scratch) requireLike(ctx context.Context) error {
	e2e := filepath.Join(s.root, "test", "e2e")
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(e2e, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), data, 0o644); err != nil {
			return err
		}
	}
	_, err := run(ctx, s.dir, "go", "mod", "edit",
		"-module="+scratchModule,
		"-replace="+mainModule+"="+s.root,
		"-require="+mainModule+"/test/e2e@v0.0.0",
		"-replace="+mainModule+"/test/e2e="+e2e)
	return err
}

// generate builds kubewright, into the folder bin, and has it generate
// everything for k8s.io/api, as the README has it. It returns how long the
// latter took, and how many files there are then.
func (s *scratch) generate(ctx context.Context, bin string) (took time.Duration, files int, err error) {
	tool := filepath.Join(bin, "kubewright")
	if _, err := run(ctx, s.root, "go", "build", "-o", tool, "./cmd/kubewright"); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if _, err := run(ctx, s.dir, tool, "generate", "k8s.io/api/...", "--plural-exceptions", "Endpoints:Endpoints", "--prefers-protobuf"); err != nil {
		return 0, 0, err
	}
	took = time.Since(begin)
	err = filepath.WalkDir(filepath.Join(s.dir, "pkg", "client"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	return took, files, err
}

// run runs a program in dir and returns what it prints.
func run(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(args[:min(len(args), 4)], " "), err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
