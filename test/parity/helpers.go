package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// helperRow is a module. Upstream's tool and ours of the same name write into its packages.
type helperRow struct {
	name, module, version string
	patterns              []string
	// without is the name of files that are removed first.
	without string
}

// k8s is a row of one of Kubernetes' own modules.
func k8s(module string, patterns ...string) helperRow {
	return helperRow{name: "k8s.io/" + module, module: "k8s.io/" + module, version: release, patterns: patterns}
}

// deepCopies compares our deepcopy-gen with upstream's on the modules of Kubernetes and on the corpus.
func (r *run) deepCopies() error {
	rows := []helperRow{
		k8s("api", "./..."), k8s("apimachinery", "./..."), k8s("apiextensions-apiserver", "./..."),
		// The other packages of these two have no generated files.
		k8s("kube-aggregator", "./pkg/apis/..."), k8s("sample-apiserver", "./pkg/apis/..."),
		k8s("code-generator", "./cmd/deepcopy-gen/output_tests/..."),
	}
	corpus, err := readCorpus(filepath.Join(r.here, "corpus.tsv"))
	if err != nil {
		return err
	}
	for _, row := range corpus {
		if reason := unloadable[row.name]; reason != "" {
			fmt.Printf("  %s: left out: %s\n", row.name, reason)
			continue
		}
		if !strings.HasPrefix(row.module, "k8s.io/") || row.module == "k8s.io/metrics" {
			rows = append(rows, helperRow{name: row.name, module: row.module, version: row.version,
				patterns: row.apis})
		}
	}
	return r.helpers("deepcopy", "zz_generated.deepcopy.go", rows)
}

// unloadable are the rows of the corpus that neither tool can load in a copy of their own module, and why.
var unloadable = map[string]string{
	"traefik":         "its go.mod replaces a module by a folder that a published module doesn't have",
	"marshalers":      "it is a module of testdata, which no module proxy has",
	"knative-serving": "it requires a version of knative.dev/pkg that the module proxy refuses",
}

// registrations compares our register-gen with upstream's.
func (r *run) registrations() error {
	all := k8s("api", "./...")
	all.without = "register.go"
	return r.helpers("register", "zz_generated.register.go", []helperRow{
		k8s("code-generator", "./cmd/register-gen/output_tests/..."), all,
		{name: "gateway-api", module: "sigs.k8s.io/gateway-api", version: "v1.6.1",
			patterns: []string{"./apis/...", "./apisx/..."}},
		{name: "mcs-api", module: "sigs.k8s.io/mcs-api", version: "v0.1.1-0.20250610011024-38bab5ba476b",
			patterns: []string{"./pkg/apis/..."}},
		{name: "kyverno", module: "github.com/kyverno/kyverno", version: "v1.19.1",
			patterns: []string{"./api/..."}},
	})
}

// defaults compares our defaulter-gen with upstream's on the modules whose packages have its tag.
func (r *run) defaults() error {
	return r.helpers("defaulter", "zz_generated.defaults.go", []helperRow{
		k8s("code-generator", "./cmd/defaulter-gen/output_tests/..."),
		k8s("apimachinery", "./..."), k8s("apiextensions-apiserver", "./pkg/apis/..."),
		k8s("kube-aggregator", "./pkg/apis/..."), k8s("sample-apiserver", "./pkg/apis/..."),
		k8s("apiserver", "./pkg/apis/...", "./pkg/admission/..."),
		k8s("client-go", "./pkg/apis/...", "./tools/clientcmd/api/..."),
		{name: "training-operator", module: "github.com/kubeflow/training-operator", version: "v1.8.1",
			patterns: []string{"./pkg/apis/..."}},
	})
}

// helpers runs both tools of a kind on each row, in two copies of the module. They write a file of that name
// into each package, and must write the same bytes. Where upstream's fails, the output of ours must compile.
func (r *run) helpers(kind, file string, rows []helperRow) error {
	tool := kind + "-gen"
	theirs, ours := readHelp(filepath.Join(r.upstream, tool)), readHelp(filepath.Join(r.ours, tool))
	if len(theirs) == 0 || !maps.Equal(theirs, ours) {
		return fmt.Errorf("%s has the flags %v, upstream's %v", tool, ours, theirs)
	}
	_, err := checkRows(r, kind, rows, func(row helperRow) string { return row.name },
		func(row helperRow) (string, error) { return r.helperRow(kind, file, row) })
	return err
}

// helperRow returns a description of a row that passes.
func (r *run) helperRow(kind, file string, row helperRow) (string, error) {
	type side struct {
		files map[string][]byte
		err   error
		took  time.Duration
		dir   string
	}
	var sides []side
	for _, bin := range []string{r.ours, r.upstream} {
		dir := filepath.Join(r.work, kind, filepath.Base(bin), filepath.FromSlash(row.name))
		if err := row.copyTo(dir, file); err != nil {
			return "", err
		}
		cmd := exec.Command(filepath.Join(bin, kind+"-gen"), append([]string{
			"--output-file", file, "--go-header-file", filepath.Join(r.here, "header.txt")}, row.patterns...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, tail(out))
		}
		s := side{err: err, took: time.Since(start), dir: dir}
		if s.files, err = helperFiles(dir, file); err != nil {
			return "", err
		}
		sides = append(sides, s)
	}
	ours, theirs := sides[0], sides[1]
	switch {
	case ours.err != nil:
		return "", ours.err
	case theirs.err != nil:
		build := exec.Command("go", append([]string{"build"}, row.patterns...)...)
		build.Dir = ours.dir
		build.Env = append(os.Environ(), "PWD="+ours.dir, "GOWORK=off", "GOFLAGS=-mod=mod")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("upstream fails, and ours doesn't compile: %w\n%s", err, tail(out))
		}
		return fmt.Sprintf("upstream fails; %d files of ours compile", len(ours.files)), nil
	}
	for name, text := range ours.files {
		if !bytes.Equal(text, theirs.files[name]) {
			return "", fmt.Errorf("%s differs from upstream's; compare %s and %s", name, ours.dir, theirs.dir)
		}
	}
	if len(ours.files) != len(theirs.files) {
		return "", fmt.Errorf("%d files, upstream %d; compare %s and %s", len(ours.files), len(theirs.files),
			ours.dir, theirs.dir)
	}
	return fmt.Sprintf("%d files are the same (%.2f s, upstream %.2f s)", len(ours.files), ours.took.Seconds(),
		theirs.took.Seconds()), nil
}

// tail returns the end of a command's output.
func tail(out []byte) []byte { return out[max(0, len(out)-2000):] }

// copyTo makes a writable copy of the module in dir, without the files of that name and row.without.
func (row helperRow) copyTo(dir, without string) error {
	out, err := exec.Command("go", "mod", "download", "-json", row.module+"@"+row.version).Output()
	var module struct{ Dir, Error string }
	if err := errors.Join(json.Unmarshal(out, &module), err); err != nil {
		return fmt.Errorf("downloading %s: %w %s", row.module, err, module.Error)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return filepath.WalkDir(module.Dir, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(module.Dir, path)
		switch to := filepath.Join(dir, rel); {
		case err != nil || relErr != nil:
			return errors.Join(err, relErr)
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case slices.Contains([]string{without, row.without}, d.Name()):
			return nil
		default:
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(to, text, 0o644))
		}
	})
}

// helperFiles returns the files of that name below dir.
func helperFiles(dir, name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != name {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[rel], err = os.ReadFile(path)
		return err
	})
}
