package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/internal/scratch"
)

const (
	own               = "github.com/kubewright/kubewright"
	controllerRuntime = "sigs.k8s.io/controller-runtime"
)

// patches are the changes to controller-runtime's files: a line, and what it becomes. They make cache.New a
// variable, and let a variable replace what priorityqueue.New returns. Unless these variables are set, both
// do what they do upstream.
var patches = []struct{ file, line, becomes string }{
	{"pkg/cache/cache.go", "func New(cfg *rest.Config, opts Options) (Cache, error) {",
		`var New NewCacheFunc = NewOwn

func NewOwn(cfg *rest.Config, opts Options) (Cache, error) {`},
	{"pkg/controller/priorityqueue/priorityqueue.go", "	if opts.MetricProvider == nil {",
		`	type newQueue = func(string, workqueue.TypedRateLimiter[T]) workqueue.TypedRateLimitingInterface[T]
	if hook, ok := Hook.(newQueue); ok {
		return hook(name, opts.RateLimiter).(PriorityQueue[T])
	}
	if opts.MetricProvider == nil {`},
	{"pkg/controller/priorityqueue/priorityqueue.go", "// New constructs a new PriorityQueue.",
		"var Hook any\n\n// New constructs a new PriorityQueue."},
}

// newCopy copies controller-runtime's module, in the version that this module requires, and applies the
// patches. It adds a package that makes tests use kubewright, and to each suite a test file that imports the
// package.
//
// The copy stays in the user's cache folder under a fixed path: at another path the compiler would have to
// start from scratch.
func newCopy() (*scratch.Module, error) {
	here := scratch.Module{Dir: "."}
	// Without -m, the go command downloads the module if it isn't there.
	source, err := here.Run("go", "list", "-mod=readonly", "-find", "-f", "{{.Module.Dir}}", controllerRuntime)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	// Each checkout has a folder of its own.
	dir := filepath.Join(cache, "kubewright", fmt.Sprintf("ctrlsuites-%.6x", sha256.Sum256([]byte(root))))
	if err := errors.Join(
		os.RemoveAll(dir),
		os.CopyFS(dir, os.DirFS(strings.TrimSpace(source))),
		os.CopyFS(filepath.Join(dir, "pkg", "kubewright"), os.DirFS("testdata/kubewright")),
	); err != nil {
		return nil, err
	}
	m, err := scratch.New(dir, controllerRuntime, ".")
	if err != nil {
		return nil, err
	}
	edit := []string{"mod", "edit", "-droprequire=" + controllerRuntime}
	for _, module := range []string{"contrib/controller-runtime", "contrib/prometheus", "envtest", "test/e2e"} {
		edit = append(edit, "-replace="+own+"/"+module+"="+filepath.Join(root, filepath.FromSlash(module)))
	}
	if _, err := m.Run("go", edit...); err != nil {
		return nil, err
	}
	for _, p := range patches {
		if err := patch(filepath.Join(dir, filepath.FromSlash(p.file)), p.line, p.becomes); err != nil {
			return nil, err
		}
	}
	for _, s := range suites {
		if err := m.Write(path.Join(s.folder, "kubewright_test.go"), fmt.Sprintf(
			"package %s_test\n\nimport _ %q\n", path.Base(s.folder), controllerRuntime+"/pkg/kubewright",
		)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// patch replaces a line that must be in the file exactly once.
func patch(file, line, becomes string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	i := slices.Index(lines, line)
	if i < 0 || slices.Contains(lines[i+1:], line) {
		return fmt.Errorf("%s doesn't have one line %q", file, line)
	}
	lines[i] = becomes
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644)
}
