package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/kubewright/kubewright/internal/pages"
)

// rehearse publishes the repository in the folder root to a proxy of its own, and does there what users do
// with a release. It reports the steps to out.
func rehearse(ctx context.Context, root, version string, out io.Writer) (err error) {
	if semver.Canonical(version) != version || version == "" {
		return fmt.Errorf("-version %q is no version such as v0.37.0", version)
	}
	dir, err := os.MkdirTemp("", "kubewright-release")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r, err := newRelease(ctx, root, dir, version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.forget()) }()

	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"CHANGELOG.md has a section", r.changelog},
		{"docs/versions.md has the version", r.versions},
		{"docs/migration.md's go install of all commands", r.install},
		{"kubewright version", r.printed},
		{"docs/first-api.md's \"Your own API\", with the release", r.firstAPI},
		{"a program with all released modules compiles", r.use},
	} {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
		fmt.Fprintln(out, "ok:", step.what)
	}
	return nil
}

// release is a published version.
type release struct {
	root, dir, version string
	// rehearsed is the version under which the modules are published. No other rehearsal has it, since the go
	// command keeps what it has downloaded.
	rehearsed string
	env       []string
	modCache  string
}

// newRelease publishes the repository in the folder root to a proxy in the folder dir.
func newRelease(ctx context.Context, root, dir, version string) (*release, error) {
	rehearsed := version + "-rehearsal." + strings.TrimPrefix(filepath.Base(dir), "kubewright-release")
	proxy := filepath.Join(dir, "proxy")
	if err := publish(ctx, root, proxy, rehearsed); err != nil {
		return nil, err
	}
	r := &release{root: root, dir: dir, version: version, rehearsed: rehearsed}
	settings, err := r.run(ctx, root, "go", "env", "GOPROXY", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	upstream, modCache, _ := strings.Cut(strings.TrimSpace(settings), "\n")
	r.modCache = modCache
	r.env = []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy) + "," + cmp.Or(upstream, "direct"),
		"GONOSUMDB=" + own, "GOWORK=off", "GOFLAGS=-modcacherw", "GOBIN=" + r.bin(),
	}
	return r, nil
}

func (r *release) bin() string { return filepath.Join(r.dir, "bin") }

// changelog looks for the version's section. What isn't released yet is under "Unreleased".
func (r *release) changelog(context.Context) error {
	return r.contains("CHANGELOG.md", "\n## Unreleased\n", "\n## "+r.version+"\n")
}

func (r *release) versions(context.Context) error {
	return r.contains("docs/versions.md", "\n| "+semver.MajorMinor(r.version)+" |")
}

// contains returns an error if a file of the repository has none of the texts.
func (r *release) contains(name string, texts ...string) error {
	file, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		return err
	}
	for _, text := range texts {
		if strings.Contains(string(file), text) {
			return nil
		}
	}
	return fmt.Errorf("%s has none of %q", name, texts)
}

// install runs the page's command that installs the commands. The latest version is the rehearsed one, as the
// proxy has no other.
func (r *release) install(ctx context.Context) error {
	blocks, err := pages.Section(r.root, "docs/migration.md", "From kube_codegen.sh")
	reader := r.reader(r.dir)
	reader.Skip = func(command string) bool { return !strings.HasPrefix(command, "go install ") }
	if err := errors.Join(err, reader.Follow(ctx, blocks)); err != nil {
		return err
	}
	if reader.Commands != 1 {
		return fmt.Errorf("docs/migration.md has %d commands that install, want 1", reader.Commands)
	}
	return nil
}

// firstAPI follows docs/first-api.md from an empty folder to a running controller.
func (r *release) firstAPI(ctx context.Context) error {
	blocks, err := pages.Section(r.root, "docs/first-api.md", "Your own API")
	dir := filepath.Join(r.dir, "first-api")
	reader := r.reader(dir)
	reader.Skip = func(command string) bool { // a clone
		return strings.HasPrefix(command, "go mod edit -replace ")
	}
	return errors.Join(err, os.Mkdir(dir, 0o755), reader.Follow(ctx, blocks))
}

// reader returns a reader of a page in a folder, without a clone.
func (r *release) reader(dir string) *pages.Reader { return &pages.Reader{Dir: dir, Env: r.env} }

// printed checks the version that the installed command prints.
func (r *release) printed(ctx context.Context) error {
	out, err := r.run(ctx, r.dir, filepath.Join(r.bin(), "kubewright"), "version")
	if err != nil {
		return err
	}
	for _, want := range []string{r.rehearsed, "k8s.io/client-go " + semver.MajorMinor(r.version)} {
		if !strings.Contains(out, want) {
			return fmt.Errorf("%q doesn't name %s", strings.TrimSpace(out), want)
		}
	}
	return nil
}

// use compiles a package that imports something of each released module.
func (r *release) use(ctx context.Context) error {
	dir := filepath.Join(r.dir, "program")
	const program = `package program

import (
	_ "` + own + `/contrib/controller-runtime"
	_ "` + own + `/contrib/prometheus"
	_ "` + own + `/informers"
	_ "` + own + `/runtime/factory"
	_ "` + own + `/envtest/apiserver"
)
`
	if err := errors.Join(os.Mkdir(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "program.go"), []byte(program), 0o644)); err != nil {
		return err
	}
	get := []string{"get"}
	for _, folder := range released {
		get = append(get, strings.TrimSuffix(own+"/"+folder, "/.")+"@"+r.rehearsed)
	}
	for _, args := range [][]string{
		{"mod", "init", "example.com/program"}, get, {"mod", "tidy"}, {"build", "./..."},
	} {
		if _, err := r.run(ctx, dir, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the rehearsed modules from the module cache.
func (r *release) forget() error {
	var errs []error
	for _, folder := range released {
		name := strings.TrimSuffix(own+"/"+folder, "/.")
		for _, pattern := range []string{
			name + "@" + r.rehearsed,
			"cache/download/" + name + "/@v/" + r.rehearsed + ".*",
		} {
			found, err := filepath.Glob(filepath.Join(r.modCache, filepath.FromSlash(pattern)))
			errs = append(errs, err)
			for _, name := range found {
				errs = append(errs, os.RemoveAll(name))
			}
		}
	}
	return errors.Join(errs...)
}

// run runs a command in a folder. Its error has what the command printed.
func (r *release) run(ctx context.Context, dir, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), r.env...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
