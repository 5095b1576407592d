package kubeserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Binaries are the paths of the two programs that make up a server.
type Binaries struct{ APIServer, Etcd string }

// sources is the module that the programs are built from, relative to the main module's folder.
const (
	mainModule = "github.com/kubewright/kubewright"
	sources    = "test/kubeapiserver"
	etcd       = "go.etcd.io/etcd/server/v3"
)

// Build builds the programs, or finds those of an earlier call, in a folder of [os.UserCacheDir] that is
// named after the versions. The working directory must be in a module that requires kubewright. Build reports
// slow steps to progress.
//
// Concurrent builds are safe: a program appears in the folder only when it is complete.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	root, err := goTool(ctx, ".", "list", "-m", "-f", "{{.Dir}}", mainModule)
	if err != nil {
		return Binaries{}, err
	}
	source := filepath.Join(root, filepath.FromSlash(sources))
	cache, err := cacheDir(source)
	if err != nil {
		return Binaries{}, err
	}
	binaries := Binaries{
		APIServer: filepath.Join(cache, "kube-apiserver"+exe),
		Etcd:      filepath.Join(cache, "etcd"+exe),
	}
	for _, b := range []struct{ path, pkg, hint string }{
		{binaries.Etcd, etcd, "half a minute"},
		{binaries.APIServer, ".", "five minutes"},
	} {
		if _, err := os.Stat(b.path); err == nil {
			continue
		}
		begin := time.Now()
		fmt.Fprintf(progress, "building %s (about %s the first time)\n", b.path, b.hint)
		if err := buildOne(ctx, source, b.pkg, b.path); err != nil {
			return Binaries{}, err
		}
		fmt.Fprintf(progress, "built in %.0f s\n", time.Since(begin).Seconds())
	}
	return binaries, nil
}

// cacheDir returns the folder, whose name depends on everything that affects the build.
func cacheDir(source string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		hash.Write(data)
	}
	return filepath.Join(user, "kubewright", fmt.Sprintf("kube-apiserver-%.6x", hash.Sum(nil))), nil
}

func buildOne(ctx context.Context, source, pkg, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	built := filepath.Join(scratch, filepath.Base(path))
	// Without symbols, linking takes less time, and the file is a third smaller.
	if _, err := goTool(ctx, source, "build", "-ldflags=-s -w", "-o", built, pkg); err != nil {
		return err
	}
	return os.Rename(built, path)
}

// goTool runs the go command in dir and returns its output.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
