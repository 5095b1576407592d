package generators_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// typeChecker type-checks packages from source. Their imports from other modules are compiled once.
type typeChecker struct {
	// mu serializes checks: neither the importer nor the packages that it returns are
	// safe for concurrent use, since go/types resolves aliases lazily.
	mu      sync.Mutex
	fset    *token.FileSet
	library types.Importer
}

// imported are all packages that generated code and API types import.
var imported = []string{
	"context", "fmt", "net/http", "reflect", "sync", "time",
	"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/managedfields",
	"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/runtime",
	"k8s.io/apimachinery/pkg/runtime/schema", "k8s.io/apimachinery/pkg/runtime/serializer",
	"k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery/pkg/util/runtime", "k8s.io/apimachinery/pkg/watch",
	"k8s.io/client-go/applyconfigurations/meta/v1", "k8s.io/client-go/discovery/fake",
	"k8s.io/client-go/metadata", "k8s.io/client-go/rest", "k8s.io/client-go/testing",
	"k8s.io/client-go/tools/cache", "sigs.k8s.io/structured-merge-diff/v6/typed",
	"github.com/kubewright/kubewright/runtime/client/apply",
	"github.com/kubewright/kubewright/runtime/client/fake",
	"github.com/kubewright/kubewright/runtime/factory", "github.com/kubewright/kubewright/runtime/informer",
	"github.com/kubewright/kubewright/runtime/lister", "github.com/kubewright/kubewright/runtime/version",
	"github.com/kubewright/kubewright/runtime/view", "io",
}

func newTypeChecker(t *testing.T) *typeChecker {
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, imported...)
	var stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[path] = file
	}
	c := &typeChecker{fset: token.NewFileSet()}
	c.library = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s is not among what generated code may import", path)
		}
		return os.Open(exports[path])
	})
	return c
}

// check checks all packages of the module in dir.
func (c *typeChecker) check(dir, module string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	run := &checkRun{typeChecker: c, fset: token.NewFileSet(), folders: map[string][]string{},
		done: map[string]*types.Package{}}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" {
			return err
		}
		// A name like x_test.go or x_windows.go would leave the file out of the build.
		if ok, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || !ok ||
			strings.HasSuffix(file, "_test.go") {
			return fmt.Errorf("the go command would leave out %s", file)
		}
		folder, err := filepath.Rel(dir, filepath.Dir(file))
		importPath := path.Join(module, filepath.ToSlash(folder))
		run.folders[importPath] = append(run.folders[importPath], file)
		return err
	})
	if err != nil {
		return err
	}
	for importPath := range run.folders {
		if _, err := run.Import(importPath); err != nil {
			return err
		}
	}
	return nil
}

// checkRun is the importer of one check.
type checkRun struct {
	*typeChecker
	fset    *token.FileSet
	folders map[string][]string
	done    map[string]*types.Package
}

func (r *checkRun) Import(importPath string) (*types.Package, error) {
	files := r.folders[importPath]
	if files == nil {
		if importPath == "unsafe" {
			return types.Unsafe, nil
		}
		return r.library.Import(importPath)
	}
	if pkg, ok := r.done[importPath]; ok {
		if pkg == nil {
			return nil, fmt.Errorf("import cycle through %s", importPath)
		}
		return pkg, nil
	}
	r.done[importPath] = nil
	var syntax []*ast.File
	for _, file := range files {
		parsed, err := parser.ParseFile(r.fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, parsed)
	}
	config := types.Config{Importer: r}
	pkg, err := config.Check(importPath, r.fset, syntax, nil)
	if err != nil {
		return nil, err
	}
	r.done[importPath] = pkg
	return pkg, nil
}

// goInModule runs a go command in the module in dir, makes the module require the repository as it is on the
// disk, and returns the command's output.
func goInModule(dir string, args ...string) (string, error) {
	m, err := scratch.New(dir, module, "..")
	if err != nil {
		return "", err
	}
	return m.Run("go", args...)
}
