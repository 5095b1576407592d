package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubewright/kubewright/test/e2e/internal/demos"
)

const (
	module    = "github.com/kubewright/kubewright"
	generated = "examples/generated"
)

// generate generates the clients of the examples' APIs into a scratch folder, and checks that they equal
// those in the repository, which this program is built with.
func generate(ctx context.Context, scratch string) error {
	root, err := demos.Command(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	fmt.Print("building kubewright ... ")
	begin := time.Now()
	tool := filepath.Join(scratch, "kubewright")
	if _, err := demos.Command(ctx, root, "go", "build", "-o", tool, "./cmd/kubewright"); err != nil {
		return err
	}
	fmt.Printf("%.1f s\n", time.Since(begin).Seconds())

	begin = time.Now()
	dir := filepath.Join(scratch, "generated")
	if _, err := demos.Command(ctx, root, tool, "generate", "./examples/apis/...",
		"--output-dir", dir, "--output-pkg", module+"/"+generated); err != nil {
		return err
	}
	took := time.Since(begin)
	files, err := compare(dir, filepath.Join(root, filepath.FromSlash(generated)))
	if err != nil {
		return err
	}
	fmt.Printf(
		"generated clientset, listers and informers of examples/apis: %d files in %d ms; %s is current\n",
		files, took.Milliseconds(), generated)
	return nil
}

// compare counts the files of one tree that are the same in the other. It fails if one differs.
func compare(dir, other string) (files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s is not current; run make generate", filepath.Join(generated, name))
		}
		files++
		return nil
	})
	return files, err
}
