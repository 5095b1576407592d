package kube

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/scratch"
)

// newModule creates a module that requires test/e2e and its requirements, and has the programs that use what
// kubewright generates of k8s.io/api. The repository is in the folder root.
func newModule(t *testing.T, root string) (*scratch.Module, error) {
	dir := scratch.FixedForTest(t)
	if err := os.CopyFS(dir, os.DirFS("testdata/scratch")); err != nil {
		return nil, err
	}
	e2e := filepath.Join(root, "test", "e2e")
	m, err := scratch.New(dir, "example.com/scratch", e2e)
	if err != nil {
		return nil, err
	}
	const path = "github.com/kubewright/kubewright/test/e2e"
	_, err = m.Run("go", "mod", "edit", "-require="+path+"@v0.0.0", "-replace="+path+"="+e2e)
	return m, err
}

// generate builds kubewright into the folder bin and runs it for all of k8s.io/api, as docs/first-api.md
// describes. It returns how long the generation took, and the number of files.
func generate(m *scratch.Module, root, bin string) (took time.Duration, files int, err error) {
	tool := filepath.Join(bin, "kubewright")
	if _, err := m.Run(
		"go", "build", "-C", root, "-mod=readonly", "-o", tool, "./cmd/kubewright",
	); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if _, err := m.Run(tool, "generate", "k8s.io/api/...", "--plural-exceptions", "Endpoints:Endpoints",
		"--prefers-protobuf"); err != nil {
		return 0, 0, err
	}
	took = time.Since(begin)
	err = filepath.WalkDir(filepath.Join(m.Dir, "pkg", "client"),
		func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files++
			}
			return err
		})
	return took, files, err
}
