package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// collision is a repository with code in its API packages that kubewright generate could declare again, or
// overwrite.
type collision struct {
	helperRow
	// renames are files that are renamed first.
	renames map[string]string
	flags   string
	// writes are the files in API packages that a run must write.
	writes []string
	// says is a part of one of the run's messages. The others are about hub types.
	says string
}

// collisionRows are real repositories: with a file of controller-gen, with handwritten methods, with deep
// copies in a file of another name, and with a handwritten registration in a file that register-gen doesn't
// look for.
var collisionRows = []collision{
	{helperRow: named("controller-gen", keda), says: "controller-gen makes the deep copies of package"},
	{helperRow: named("controller-gen-replaced", keda), flags: "--replace-controller-gen",
		writes: []string{"apis/eventing/v1alpha1/zz_generated.deepcopy.go",
			"apis/keda/v1alpha1/zz_generated.deepcopy.go"}},
	{helperRow: named("methods-by-hand", k8s("apiextensions-apiserver", "./pkg/apis/...")),
		flags: "--go-header-file hack/boilerplate.go.txt"},
	{helperRow: named("another-file-name", volcano),
		flags:   "--go-header-file hack/boilerplate.go.txt",
		renames: map[string]string{"pkg/apis/batch/v1alpha1/zz_generated.deepcopy.go": "copies.go"}},
	{helperRow: named("registration-by-hand", volcano),
		flags:   "--go-header-file hack/boilerplate.go.txt",
		renames: map[string]string{"pkg/apis/batch/v1alpha1/register.go": "scheme.go"}},
}

var keda = helperRow{module: "github.com/kedacore/keda/v2", version: "v2.21.0",
	patterns: []string{"./apis/..."}}

var volcano = helperRow{module: "volcano.sh/apis", version: "v1.8.0", patterns: []string{"./pkg/apis/..."}}

// named returns a row with a name.
func named(name string, row helperRow) helperRow {
	row.name = name
	return row
}

// collisions runs kubewright generate on copies of these repositories. In API packages it must write the
// files that a row names, and no others. The packages must compile then, and check must pass.
func (r *run) collisions() error {
	_, err := checkRows(r, "collisions", collisionRows, func(c collision) string { return c.name }, r.collision)
	return err
}

func (r *run) collision(c collision) (string, error) {
	dir := filepath.Join(r.work, "collisions", c.name)
	if err := c.copyTo(dir, ""); err != nil {
		return "", err
	}
	for from, to := range c.renames {
		from = filepath.Join(dir, from)
		if err := os.Rename(from, filepath.Join(filepath.Dir(from), to)); err != nil {
			return "", err
		}
	}
	before, err := goFiles(dir)
	if err != nil {
		return "", err
	}
	const output = "kubewright-clients"
	args := slices.Concat([]string{"generate", "--output-dir", output}, strings.Fields(c.flags), c.patterns)
	messages, err := said(dir, filepath.Join(r.ours, "kubewright"), args...)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(messages) {
		if c.says != "" && strings.Contains(line, c.says) {
			c.says = ""
		} else if !strings.Contains(line, "has internal types") && // true of volcano, and of keda
			!strings.Contains(line, "is ignored here; it has an effect in the package's doc.go only") {
			return "", fmt.Errorf("it prints %s", line)
		}
	}
	if c.says != "" {
		return "", fmt.Errorf("it doesn't print %q", c.says)
	}
	after, err := goFiles(dir)
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(after, func(name string, text []byte) bool {
		return strings.HasPrefix(name, output+"/") || bytes.Equal(text, before[name])
	})
	if written := slices.Sorted(maps.Keys(after)); !slices.Equal(written, c.writes) {
		return "", fmt.Errorf("it writes %q, not %q", written, c.writes)
	}
	if _, err := said(dir, "go", append([]string{"build"}, c.patterns...)...); err != nil {
		return "", err
	}
	args[0] = "check"
	if _, err := said(dir, filepath.Join(r.ours, "kubewright"), args...); err != nil {
		return "", fmt.Errorf("check after generate: %w", err)
	}
	return fmt.Sprintf("%d files written in API packages, as it should be", len(c.writes)), nil
}

// goFiles returns the Go files below dir, by path.
func goFiles(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
}
