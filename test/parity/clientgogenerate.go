package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// generate makes both copies: it fetches the release twice, and replaces the generated files of one copy,
// with the arguments that Kubernetes uses.
func (g *regenerated) generate() error {
	if err := errors.Join(g.fetch(g.orig), g.fetch(g.copy)); err != nil {
		return err
	}
	released, err := generatedFiles(g.orig)
	if err != nil {
		return err
	}
	for _, file := range released {
		if err := os.Remove(filepath.Join(g.copy, file)); err != nil {
			return err
		}
	}
	const runtime = "github.com/kubewright/kubewright"
	if _, err := g.lines(
		g.copy, "go", "mod", "edit", "-require", runtime+"@v0.0.0", "-replace", runtime+"="+g.root,
	); err != nil {
		return err
	}
	apis, err := g.apiPackages()
	if err != nil {
		return err
	}
	served, err := g.servedVersions()
	if err != nil {
		return err
	}
	schema, err := g.schema(apis)
	if err != nil {
		return err
	}

	done := 0
	tool := func(name string, args ...string) {
		start := time.Now()
		args = append([]string{"--go-header-file", filepath.Join(g.here, "header.txt")}, args...)
		if out, err := g.logged(
			name+".log", g.command(g.copy, filepath.Join(g.ours, name), args...),
		); err != nil {
			fmt.Printf("  %s: %v\n%s", name, err, out)
			return
		}
		fmt.Printf("# %s: %d ms\n", name, time.Since(start).Milliseconds())
		done++
	}
	plurals := []string{"--plural-exceptions", "Endpoints:Endpoints"}
	to := func(dir string) []string {
		return []string{"--output-dir", dir, "--output-pkg", clientGoModule + "/" + dir}
	}
	tool("applyconfiguration-gen",
		slices.Concat([]string{"--openapi-schema", schema}, to("applyconfigurations"),
			apis, []string{"k8s.io/apimachinery/pkg/apis/meta/v1"})...)
	clients := []string{"--output-dir", ".", "--output-pkg", clientGoModule, "--clientset-name", "kubernetes",
		"--input-base", "k8s.io/api",
		"--apply-configuration-package", clientGoModule + "/applyconfigurations", "--prefers-protobuf"}
	for _, version := range served {
		clients = append(clients, "--input", version)
	}
	tool("client-gen", slices.Concat(plurals, clients)...)
	tool("lister-gen", slices.Concat(plurals, to("listers"), apis)...)
	tool("informer-gen", slices.Concat(plurals, to("informers"), []string{"--single-directory",
		"--versioned-clientset-package", clientGoModule + "/kubernetes",
		"--listers-package", clientGoModule + "/listers"}, apis)...)
	g.check("generators succeed", done, len(tools), "")
	tidy := []string{"mod", "tidy"}
	if len(g.with) > 0 {
		tidy = []string{"list", "-deps", "./..."} // what tests import may not be there
	}
	if _, err := g.logged("tidy.log", g.command(g.copy, "go", tidy...)); err != nil {
		return fmt.Errorf("go %s: %w, see %s", strings.Join(tidy, " "), err, filepath.Join(g.logs, "tidy.log"))
	}
	if err := g.compareFiles(released); err != nil {
		return err
	}
	return g.compareModules()
}

// fetch makes a fresh, writable copy of the release.
func (g *regenerated) fetch(dir string) error {
	from, err := moduleDir(clientGoModule + "@" + release)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(from))); err != nil {
		return err
	}
	if len(g.with) > 0 { // its module may not be there
		if err := os.RemoveAll(filepath.Join(dir, "ktesting")); err != nil {
			return err
		}
	}
	return g.require(dir, "-droprequire=k8s.io/ktesting")
}

// require makes a module require the versions of the flag -with, and edits its go.mod in other ways. Without
// the flag it does nothing.
func (g *regenerated) require(dir string, edits ...string) error {
	if len(g.with) == 0 {
		return nil
	}
	for _, module := range g.with {
		edits = append(edits, "-require="+module)
	}
	_, err := g.lines(dir, "go", append([]string{"mod", "edit"}, edits...)...)
	return err
}

// moduleDir returns a module's folder in the module cache, and downloads the module if needed.
func moduleDir(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // outside of modules, so that no replacement applies
	cmd.Env = append(os.Environ(), "PWD="+cmd.Dir, "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	var info struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &info); jsonErr != nil || info.Dir == "" {
		return "", fmt.Errorf("downloading %s: %w %s", module, errors.Join(err, jsonErr), info.Error)
	}
	return info.Dir, nil
}

// apiPackages returns the packages of k8s.io/api as upstream finds them: every folder with a types.go.
func (g *regenerated) apiPackages() ([]string, error) {
	api, err := moduleDir("k8s.io/api@" + release)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(api, "*", "*", "types.go"))
	var pkgs []string
	for _, file := range files {
		rel, err := filepath.Rel(api, filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, "k8s.io/api/"+filepath.ToSlash(rel))
	}
	return pkgs, err
}

// servedVersions returns the group versions that have clients, in upstream's order, which it reads in the
// release's scheme.
func (g *regenerated) servedVersions() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(g.orig, "kubernetes", "scheme", "register.go"))
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, m := range schemeImport.FindAllSubmatch(text, -1) {
		paths[string(m[1])] = string(m[2])
	}
	var versions []string
	for _, m := range schemeEntry.FindAllSubmatch(text, -1) {
		versions = append(versions, paths[string(m[1])])
	}
	return versions, nil
}

var (
	schemeImport = regexp.MustCompile(`(?m)^\t(\w+) "k8s\.io/api/([^"]+)"$`)
	schemeEntry  = regexp.MustCompile(`(?m)^\t(\w+)\.AddToScheme,$`)
)

// schema returns a file with the OpenAPI document of the API packages. kube-openapi's generator makes it
// once, as for Kubernetes.
func (g *regenerated) schema(apis []string) (string, error) {
	file := filepath.Join(g.dir, "schema-"+release+".json")
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	dir := filepath.Join(g.dir, "schema")
	if err := errors.Join(
		os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Join(g.here, "testdata", "schema"))),
	); err != nil {
		return "", err
	}
	err := g.require(dir, "-require=k8s.io/api@"+release, "-require=k8s.io/apimachinery@"+release)
	if err != nil {
		return "", err
	}
	models := slices.Clone(apis)
	for _, p := range []string{
		"api/resource", "apis/meta/v1", "apis/meta/v1beta1", "runtime", "util/intstr", "version",
	} {
		models = append(models, "k8s.io/apimachinery/pkg/"+p)
	}
	args := []string{"run", "k8s.io/kube-openapi/cmd/openapi-gen",
		"--go-header-file", filepath.Join(g.here, "header.txt"),
		"--output-dir", "models", "--output-pkg", "regen/schema/models", "--output-file", "models.go",
		"--output-model-name-file", "zz_generated.model_name.go", "--report-filename", "violations.txt"}
	for _, pkg := range models {
		args = append(args, "--readonly-pkg", pkg)
	}
	if _, err := g.lines(dir, "go", append(args, models...)...); err != nil {
		return "", err
	}
	document, err := g.command(dir, "go", "run", ".").Output()
	if err != nil {
		return "", fmt.Errorf("printing the schema: %w", err)
	}
	return file, os.WriteFile(file, document, 0o644)
}

// compareFiles compares the texts of files: they must be formatted as by gofmt, but need not equal the
// release's.
func (g *regenerated) compareFiles(released []string) error {
	made, err := generatedFiles(g.copy)
	if err != nil {
		return err
	}
	same, formatted := 0, 0
	for _, file := range made {
		text, err := os.ReadFile(filepath.Join(g.copy, file))
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(filepath.Join(g.orig, file)); err == nil && bytes.Equal(old, text) {
			same++
		}
		if out, err := format.Source(text); err == nil && bytes.Equal(out, text) {
			formatted++
		} else {
			fmt.Printf("  not as gofmt has it: %s\n", file)
		}
	}
	// applyconfiguration-gen has a file that upstream doesn't have.
	shared := slices.DeleteFunc(slices.Clone(made),
		func(file string) bool { return file == "applyconfigurations/"+parserFile })
	n := common(released, shared)
	fmt.Printf("check client-go, byte-identical files: %d of %d (not required)\n", same, len(released))
	g.check("files", n, max(len(released), len(shared)), "")
	g.check("files as gofmt has them", formatted, len(made), "")
	return nil
}

// compareModules checks that the runtime doesn't raise the version of any requirement of client-go.
func (g *regenerated) compareModules() error {
	const list = "{{if not .Main}}{{.Path}} {{.Version}}{{end}}"
	released, err := g.lines(g.orig, "go", "list", "-m", "-f", list, "all")
	if err != nil {
		return err
	}
	made, err := g.lines(g.copy, "go", "list", "-m", "-f", list, "all")
	if err != nil {
		return err
	}
	for _, line := range released {
		if !slices.Contains(made, line) {
			fmt.Printf("  another version than %s\n", strings.ReplaceAll(line, " ", "@"))
		}
	}
	g.check("module versions", common(released, made), len(released), "")
	return nil
}
