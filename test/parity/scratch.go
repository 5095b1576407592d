package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// release is the version of the Kubernetes modules that everything is compared on. A flag sets it.
var release = "v0.37.2"

// scratch is a module for the code that one set of generators makes of a row. Both sets get a module of the
// same path and with the same requirements.
type scratch struct {
	row
	dir     string
	bin     string // folder of the generators
	runtime string // checkout of kubewright
	took    time.Duration
}

// path returns the module's path.
func (s *scratch) path() string { return "corpus.example/" + s.name }

// prepare writes a module whose requirements suffice to load the row's types and everything that generated
// code may import.
func (s *scratch) prepare() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "deps"), 0o755); err != nil {
		return err
	}
	mod, err := s.goMod()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return err
	}
	// This package isn't compared: it pins the modules of its imports.
	deps := "package deps\n\nimport (\n"
	for _, pkg := range s.imports() {
		deps += fmt.Sprintf("\t_ %q\n", pkg)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "deps", "deps.go"), []byte(deps+")\n"), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "header.txt"), nil, 0o644); err != nil {
		return err
	}
	if _, err := s.run("go", "list", "-deps", "./deps"); err != nil {
		return fmt.Errorf("the types don't load: %w", err)
	}
	return nil
}

func (s *scratch) goMod() (string, error) {
	pins, err := os.ReadFile(filepath.Join(s.runtime, "test", "parity", "pins.txt"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26.0\n\n", s.path())
	for _, m := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"} {
		if m != s.module {
			fmt.Fprintf(&b, "require %s %s\n", m, release)
		}
	}
	fmt.Fprintf(&b,
		"require github.com/kubewright/kubewright v0.0.0\nreplace github.com/kubewright/kubewright => %s\n",
		s.runtime)
	fmt.Fprintf(&b, "require %s %s\n", s.modulePath(), s.version)
	// All modules use the same low-level dependencies, so that those are compiled once.
	for line := range strings.Lines(string(pins)) {
		b.WriteString("require " + line)
	}
	for _, m := range s.list("require") {
		fmt.Fprintf(&b, "require %s\n", strings.ReplaceAll(m, "@", " "))
	}
	for _, m := range s.list("replace") {
		from, to, _ := strings.Cut(m, "=>")
		to = strings.ReplaceAll(strings.ReplaceAll(to, "@", " "), "ROOT", s.runtime)
		fmt.Fprintf(&b, "replace %s => %s\n", from, to)
	}
	return b.String(), nil
}

// modulePath returns the path in the row's go.mod. For a fork it differs from the path by which the module is
// downloaded.
func (s *scratch) modulePath() string {
	if p := s.flags["modpath"]; p != "" {
		return p
	}
	return s.module
}

func (s *scratch) imports() []string {
	pkgs := slices.Concat(s.apis, s.list("ac-extra"))
	for _, pkg := range []string{
		"version", "gen/client", "gen/apply", "gen/applyschema", "gen/fake", "gen/lister", "gen/informer",
		"gen/factory",
	} {
		pkgs = append(pkgs, "github.com/kubewright/kubewright/runtime/"+pkg)
	}
	for _, pkg := range []string{
		"applyconfigurations/meta/v1", "discovery/fake", "features", "gentype", "rest", "testing",
		"tools/cache", "util/apply", "util/watchlist",
	} {
		pkgs = append(pkgs, "k8s.io/client-go/"+pkg)
	}
	return append(pkgs, "k8s.io/apimachinery/pkg/util/managedfields",
		"sigs.k8s.io/structured-merge-diff/v6/typed")
}

// copyModule makes s a copy of from, without the code generated there.
func (s *scratch) copyModule(from *scratch) error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	for _, file := range []string{"go.mod", "go.sum", "header.txt", "deps/deps.go"} {
		data, err := os.ReadFile(filepath.Join(from.dir, file))
		if err != nil {
			return err
		}
		to := filepath.Join(s.dir, file)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, data, 0o644),
		); err != nil {
			return err
		}
	}
	return nil
}

// generate runs all four generators, even if one fails.
func (s *scratch) generate() error {
	schema, err := s.schema()
	if err != nil {
		return err
	}
	var failed []error
	tool := func(name string, args ...string) {
		start := time.Now()
		if _, err := s.run(
			filepath.Join(s.bin, name), append([]string{"--go-header-file", "header.txt"}, args...)...,
		); err != nil {
			failed = append(failed, err)
		}
		s.took += time.Since(start)
	}
	to := func(dir string) []string {
		return []string{"--output-dir", dir, "--output-pkg", path.Join(s.path(), dir)}
	}
	plurals := []string{"--plural-exceptions", s.flags["plural-exceptions"]}

	tool("applyconfiguration-gen", slices.Concat(to(s.applyDir), []string{
		"--external-applyconfigurations", s.flags["ac-externals"], "--openapi-schema", schema,
	}, s.apis, s.list("ac-extra"))...)

	// Internal versions, whose paths end without a version, get a clientset of their own.
	var inputs, internal []string
	for _, api := range s.apis {
		if versioned.MatchString(path.Base(api)) {
			inputs = append(inputs, "--input", api)
		} else {
			internal = append(internal, "--input", api+"/")
		}
	}
	clients := slices.Concat(to("clientset"), plurals, []string{"--input-base", ""})
	if s.has("prefers-protobuf") {
		clients = append(clients, "--prefers-protobuf")
	}
	name := s.clientsetName()
	applies := ""
	if !s.has("no-applyconfig") {
		applies = path.Join(s.path(), s.applyDir)
	}
	tool("client-gen",
		slices.Concat(clients, []string{"--clientset-name", name, "--apply-configuration-package", applies},
			inputs)...)
	informers := slices.Concat(to("informers"), plurals, []string{
		"--versioned-clientset-package", path.Join(s.path(), "clientset", name),
		"--listers-package", path.Join(s.path(), "listers"),
	})
	if len(internal) > 0 {
		tool("client-gen",
			slices.Concat(clients, []string{"--clientset-name", "internalversion"}, internal)...)
		informers = append(informers,
			"--internal-clientset-package", path.Join(s.path(), "clientset/internalversion"))
	}
	if s.has("single-directory") {
		informers = append(informers, "--single-directory")
	}
	tool("lister-gen", slices.Concat(to("listers"), plurals, s.apis)...)
	tool("informer-gen", slices.Concat(informers, s.apis)...)
	return errors.Join(failed...)
}

var versioned = regexp.MustCompile(`^v[0-9]`)

// clientsetName returns the name of the clientset's package.
func (s *scratch) clientsetName() string { return cmp.Or(s.flags["clientset-name"], "versioned") }

// schema returns the repository's OpenAPI document, or "" if it has none.
func (s *scratch) schema() (string, error) {
	if program := s.flags["openapi-run"]; program != "" {
		out, err := s.run("go", "run", program)
		if err != nil {
			return "", err
		}
		file := filepath.Join(s.dir, "schema.json")
		return file, os.WriteFile(file, out, 0o644)
	}
	if file := s.flags["openapi-file"]; file != "" {
		out, err := s.run("go", "list", "-m", "-f", "{{.Dir}}", s.modulePath())
		return filepath.Join(strings.TrimSpace(string(out)), file), err
	}
	return "", nil
}

// build compiles what was generated.
func (s *scratch) build() error {
	_, err := s.run("go", append([]string{"build"}, s.patterns()...)...)
	return err
}

// patterns returns the package patterns of the folders that exist.
func (s *scratch) patterns() []string {
	var patterns []string
	for _, folder := range s.folders() {
		if _, err := os.Stat(filepath.Join(s.dir, folder)); err == nil {
			patterns = append(patterns, "./"+folder+"/...")
		}
	}
	return patterns
}

// run runs a command in the module and returns its standard output. Its error has the standard error, without
// the go command's messages about downloads.
func (s *scratch) run(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PWD="+s.dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		var said []string
		for line := range strings.Lines(stderr.String()) {
			if !strings.HasPrefix(line, "go: ") && !strings.HasPrefix(line, "# ") {
				said = append(said, line)
			}
		}
		if len(said) == 0 {
			said = append(said, stderr.String())
		}
		return nil, fmt.Errorf("%s: %w\n%s", filepath.Base(name), err,
			strings.Join(said[:min(len(said), 20)], ""))
	}
	return out, nil
}
