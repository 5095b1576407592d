package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// hub is a repository of Kubernetes with an internal version beside the others. flags is what its script
// passes to kube_codegen.sh, as flags of kubewright.
type hub struct {
	module string
	flags  string
}

// hubModules are at version release.
var hubModules = []hub{
	{"k8s.io/sample-apiserver", "--output-dir pkg/generated"},
	{"k8s.io/kube-aggregator", "--output-dir pkg/client --clientsets-dir pkg/client/clientset_generated " +
		"--clientset-name clientset --prefers-protobuf"},
	{"k8s.io/apiextensions-apiserver", "--output-dir pkg/client --clientset-name clientset --prefers-protobuf " +
		"--lint-rules known-tags-only,require-explicit-disablement"},
}

// hubs regenerates the clients of these repositories in place, over those of upstream, by kubewright generate
// ./pkg/apis/... . Nothing of the exported API may be missing or incompatible, and the repository's own tests
// must pass.
func (r *run) hubs() error {
	name := func(h hub) string { return filepath.Base(h.module) }
	_, err := checkRows(r, "hubs", hubModules, name, func(h hub) (string, error) {
		return r.hub(h, filepath.Join(r.work, "hubs", name(h)))
	})
	return err
}

func (r *run) hub(h hub, dir string) (string, error) {
	orig, regenerated := filepath.Join(dir, "orig"), filepath.Join(dir, "new")
	out, err := said(r.here, "go", "mod", "download", "-json", h.module+"@"+release)
	if err != nil {
		return "", err
	}
	_, source, _ := strings.Cut(out, `"Dir": "`)
	source, _, _ = strings.Cut(source, `"`)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for _, to := range []string{orig, regenerated} {
		if err := os.CopyFS(to, os.DirFS(source)); err != nil {
			return "", err
		}
	}
	const own = "github.com/kubewright/kubewright"
	if _, err := said(regenerated, "go", "mod", "edit", "-require", own+"@v0.0.0", "-replace",
		own+"="+r.root); err != nil {
		return "", err
	}
	args := append([]string{"generate", "./pkg/apis/...", "--with-applyconfig",
		"--go-header-file", "hack/boilerplate.go.txt"}, strings.Fields(h.flags)...)
	messages, err := said(regenerated, filepath.Join(r.ours, "kubewright"), args...)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(messages) {
		lines = append(lines, strings.TrimSpace(line))
	}
	if err := r.review.check("hub-"+filepath.Base(h.module), lines); err != nil {
		return "", err
	}
	if _, err := said(regenerated, "go", "build", "./..."); err != nil {
		return "", err
	}
	packages, err := r.hubDiff(h, orig, regenerated)
	if err != nil {
		return "", err
	}
	// The tests outside of pkg, which apiextensions-apiserver has, need an etcd. They are only compiled.
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./pkg/..."}} {
		if _, err := said(regenerated, "go", args...); err != nil {
			return "", err
		}
	}
	return packages + ", its tests pass", nil
}

// hubDiff compares the exported API. It returns how many packages have all of the original's, and an error
// unless what is missing is listed in testdata/removed.txt.
func (r *run) hubDiff(h hub, orig, regenerated string) (packages string, err error) {
	cmd := exec.Command(filepath.Join(r.work, "bin", "apidiff"), "-missing", "-max", "1000000",
		"-old", orig, "-new", regenerated, "./pkg/...")
	cmd.Dir = orig
	cmd.Env = append(os.Environ(), "PWD="+orig, "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	var missing []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		summary, is := strings.CutPrefix(line, "apidiff: ")
		switch {
		case is:
			packages, _, _ = strings.Cut(summary, " (")
		case !compatible.MatchString(line) && !strings.HasPrefix(line, "struct tags: "):
			missing = append(missing, line)
		}
	}
	removed, readErr := r.removed("hub-" + filepath.Base(h.module))
	if readErr != nil {
		return "", readErr
	}
	if !slices.Equal(missing, removed) || err != nil && len(removed) == 0 {
		return "", fmt.Errorf("apidiff: %w\n%s", err, out)
	}
	return packages, nil
}

// said runs a command in a folder and returns its output. Its error includes the output, without the lines of
// packages that pass their tests.
func said(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return string(out), nil
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "?") && !strings.HasPrefix(line, "go: ") {
			lines = append(lines, line)
		}
	}
	return "", fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, strings.Join(lines, ""))
}
