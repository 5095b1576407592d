package generators_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// imported are all packages that generated code and API types import.
var imported = []string{
	"context", "fmt", "net/http", "reflect", "sync", "time",
	"k8s.io/apimachinery/pkg/labels", "k8s.io/apimachinery/pkg/util/managedfields",
	"k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured",
	"k8s.io/apimachinery/pkg/runtime", "k8s.io/apimachinery/pkg/util/json",
	"k8s.io/apimachinery/pkg/runtime/schema", "k8s.io/apimachinery/pkg/runtime/serializer",
	"k8s.io/apimachinery/pkg/types", "k8s.io/apimachinery/pkg/util/runtime", "k8s.io/apimachinery/pkg/watch",
	"k8s.io/client-go/applyconfigurations/meta/v1", "k8s.io/client-go/discovery/fake",
	"k8s.io/client-go/metadata", "k8s.io/client-go/rest", "k8s.io/client-go/testing",
	"k8s.io/client-go/tools/cache", "sigs.k8s.io/structured-merge-diff/v6/typed",
	"github.com/kubewright/kubewright/runtime/gen/apply",
	"github.com/kubewright/kubewright/runtime/gen/applyschema",
	"github.com/kubewright/kubewright/runtime/gen/fake",
	"github.com/kubewright/kubewright/runtime/factory", "github.com/kubewright/kubewright/runtime/gen/informer",
	"github.com/kubewright/kubewright/runtime/lister", "github.com/kubewright/kubewright/runtime/version",
	"github.com/kubewright/kubewright/runtime/gen/view", "io",
	// those of random API types
	"encoding/json", "strconv", "strings", "k8s.io/api/autoscaling/v1", "k8s.io/api/core/v1",
	"k8s.io/apimachinery/pkg/api/resource", "k8s.io/apimachinery/pkg/util/intstr",
	"k8s.io/client-go/applyconfigurations/autoscaling/v1",
}

// exports is a file with the paths of these packages' export data, for the command typecheck.
var exports = sync.OnceValues(func() (string, error) {
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, imported...)
	out, err := exec.Command("go", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	file := filepath.Join(scratchFolder, "exports")
	return file, errors.Join(err, os.WriteFile(file, out, 0o644))
})

// typeChecker is a process of the command typecheck.
type typeChecker struct {
	in  io.Writer
	out *bufio.Reader
}

// newTypeChecker starts a process, which ends with the test.
func newTypeChecker(t *testing.T) *typeChecker {
	file, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(buildCommands(t), "typecheck"), file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return &typeChecker{in, bufio.NewReader(out)}
}

// check checks all packages in the folder dir, whose import path is given. It isn't safe for concurrent use.
func (c *typeChecker) check(importPath, dir string) error {
	if _, err := fmt.Fprintf(c.in, "%s\t%s\n", importPath, dir); err != nil {
		return err
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return err
	}
	found, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
	if err == nil && found != "" {
		return errors.New(found)
	}
	return err
}
