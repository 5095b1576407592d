package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a folder that contains a module with one API.
type repository struct {
	t   *testing.T
	dir string
	// path is the PATH: it has the go command and nothing else, no shell and no git.
	path string
	// env is added to the environment of commands.
	env []string
}

const own = "github.com/kubewright/kubewright"

func newRepository(t *testing.T, folder string) *repository {
	r := newModule(t, folder)
	for _, name := range []string{
		"doc.go", "register.go", "types.go", "scale.go", "zz_generated.deepcopy.go",
	} {
		text, err := os.ReadFile(filepath.Join("../../examples/apis/shop/v1beta1", name))
		if err == nil {
			r.write(filepath.Join(folder, "apis/shop/v1beta1", name), string(text))
		} else if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return r
}

// newModule returns a repository without an API. It requires this repository.
func newModule(t *testing.T, folder string) *repository {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{t: t, dir: filepath.Join(t.TempDir(), "repository"), path: t.TempDir()}
	if err := os.Symlink(goCommand, filepath.Join(r.path, "go")); err != nil {
		t.Fatal(err)
	}
	mod := strings.Replace(r.read(filepath.Join(root, "go.mod")), "module "+own,
		"module example.com/shop", 1) +
		"\nrequire " + own + " v0.0.0\n\nreplace " + own + " => " + root + "\n\ntool " + own +
		"/cmd/kubewright\n"
	r.write(filepath.Join(folder, "go.mod"), mod)
	r.write(filepath.Join(folder, "go.sum"), r.read(filepath.Join(root, "go.sum")))
	return r
}

func (r *repository) read(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *repository) write(name, text string) {
	file := filepath.Join(r.dir, name)
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644),
	); err != nil {
		r.t.Fatal(err)
	}
}

// run runs a command in a folder and returns its standard output.
func (r *repository) run(folder, name string, args ...string) string {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(r.dir, folder)
	cmd.Env = append(os.Environ(), "PATH="+r.path, "PWD="+cmd.Dir, "GOFLAGS=-mod=mod")
	if _, err := os.Stat(filepath.Join(r.dir, "go.work")); err == nil {
		cmd.Env = append(cmd.Env, "GOFLAGS=")
	}
	cmd.Env = append(cmd.Env, r.env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}

// wrote checks that there is a clientset for the API, with the import path, below a folder.
func (r *repository) wrote(folder, importPath string) {
	r.t.Helper()
	text := r.read(filepath.Join(r.dir, folder, "clientset/versioned/clientset.go"))
	if want := importPath + "/clientset/versioned/typed/shop/v1beta1"; !strings.Contains(text, want) {
		r.t.Errorf("the clientset doesn't import %s", want)
	}
}

func build(t *testing.T) string {
	binary := filepath.Join(t.TempDir(), "kubewright")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// TestGoGenerate follows the documentation for a repository that starts to use kubewright.
func TestGoGenerate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds kubewright and a clientset in a new module")
	}
	r := newRepository(t, ".")
	r.write("apis/generate.go", "package apis\n\n//go:generate go tool kubewright generate ./...\n")
	r.run(".", "go", "generate", "./...")
	r.wrote("pkg/client", "example.com/shop/pkg/client")
	r.run(".", "go", "tool", "kubewright", "check", "./apis/...")
	r.run(".", "go", "build", "./...")
}

// TestToolsModule runs kubewright from a module for tools only, on the module around it.
func TestToolsModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds kubewright in a new module")
	}
	r := newRepository(t, ".")
	r.write("tools/go.mod", strings.Replace(r.read(filepath.Join(r.dir, "go.mod")), "module example.com/shop",
		"module example.com/shop/tools", 1))
	r.write("tools/go.sum", r.read(filepath.Join(r.dir, "go.sum")))
	r.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	r.env = []string{"GOFLAGS="}
	r.run(".", "go", "tool", "-modfile=tools/go.mod", "kubewright", "generate", "./apis/...")
	r.wrote("pkg/client", "example.com/shop/pkg/client")
}

// goLine returns the line of a go.mod that has the Go version, which depends on client-go's.
func (r *repository) goLine(folder string) string {
	r.t.Helper()
	for line := range strings.Lines(r.read(filepath.Join(r.dir, folder, "go.mod"))) {
		if strings.HasPrefix(line, "go ") {
			return strings.TrimSpace(line)
		}
	}
	r.t.Fatalf("%s/go.mod has no line with a Go version", folder)
	return ""
}

func TestPlaces(t *testing.T) {
	kubewright := build(t)
	t.Run("from another folder of the module", func(t *testing.T) {
		r := newRepository(t, ".")
		r.run("apis/shop", kubewright, "generate", "../...")
		r.wrote("pkg/client", "example.com/shop/pkg/client")
	})
	t.Run("through a symlink", func(t *testing.T) {
		r := newRepository(t, ".")
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(r.dir, link); err != nil {
			t.Fatal(err)
		}
		real := r.dir
		r.dir = link
		r.run(".", kubewright, "generate", "./apis/...")
		r.dir = real
		r.wrote("pkg/client", "example.com/shop/pkg/client")
		r.run(".", kubewright, "check", "./apis/...")
	})
	t.Run("in a workspace", func(t *testing.T) {
		r := newRepository(t, "api")
		r.write("client/go.mod", "module example.com/client\n\ngo 1.26\n")
		r.write("go.work", r.goLine("api")+"\n\nuse (\n\t./api\n\t./client\n)\n")
		r.run(".", kubewright, "generate", "--output-dir", "client/gen", "./api/apis/...")
		r.wrote("client/gen", "example.com/client/gen")
		r.run("client", kubewright, "check", "--output-dir", "gen", "example.com/shop/apis/...")
	})
	t.Run("vendored", func(t *testing.T) {
		r := newRepository(t, ".")
		r.write("go.mod", "module example.com/shop\n\ngo 1.26\n\nrequire example.com/apis v1.0.0\n")
		r.write("vendor/modules.txt",
			"# example.com/apis v1.0.0\n## explicit; go 1.26\nexample.com/apis/shop/v1beta1\n")
		vendored := filepath.Join(r.dir, "vendor/example.com")
		if err := errors.Join(os.MkdirAll(vendored, 0o755),
			os.Rename(filepath.Join(r.dir, "apis"), filepath.Join(vendored, "apis"))); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(kubewright, "generate", "example.com/apis/shop/v1beta1")
		cmd.Dir = r.dir
		cmd.Env = append(os.Environ(), "PATH="+r.path, "PWD="+r.dir, "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r.wrote("pkg/client", "example.com/shop/pkg/client")
	})
}

// TestWorkspaceMessages checks that messages about modules name go.work where there is one.
func TestWorkspaceMessages(t *testing.T) {
	r := newRepository(t, "api")
	r.write("client/go.mod", "module example.com/client\n\ngo 1.26\n")
	r.write("other/go.mod", "module example.com/other\n\ngo 1.26\n")
	r.write("other/v1/doc.go", "package v1\n")
	r.write("go.work", r.goLine("api")+"\n\nuse (\n\t./api\n\t./client\n)\n")
	t.Chdir(r.dir)
	for _, c := range []struct{ args, message string }{
		{"generate ./api/apis/...", "kubewright: no go.mod here or in any folder above, only a go.work; run " +
			"kubewright in one of its modules (api, client), or say where to write with --output-dir"},
		{"check ./api/apis/... --output-dir gen", "kubewright: the output directory gen is in no module of " +
			"go.work (api, client); put it into one, or give its import path with --output-pkg"},
		{"check ./other/... --output-dir api/gen", "./other/...: it is in the module example.com/other, which " +
			"go.work doesn't list; to list it: go work use ./other"},
	} {
		var stderr strings.Builder
		if status := execute(t.Context(), strings.Fields(c.args), &strings.Builder{},
			&stderr); status != statusFailed || stderr.String() != c.message+"\n" {
			t.Errorf("%s: exit status %d, %q, want %q", c.args, status, &stderr, c.message)
		}
	}
}

// TestQuiet checks that the command prints nothing unless it runs on a terminal, and that
// --json prints JSON, problems included.
func TestQuiet(t *testing.T) {
	kubewright := build(t)
	r := newRepository(t, ".")
	if out := r.run(".", kubewright, "generate", "./apis/..."); out != "" {
		t.Errorf("generate says %q to a pipe", out)
	}
	var got report
	if err := json.Unmarshal(
		[]byte(r.run(".", kubewright, "check", "--json", "./apis/...")), &got,
	); err != nil {
		t.Fatal(err)
	}
	if got.Command != "check" || len(got.Files) < 10 || got.Error != "" || got.Seconds["total"] <= 0 ||
		got.Seconds["load"] <= 0 {
		t.Errorf("check --json: %+v", got)
	}
	for _, f := range got.Files {
		if f.State != "current" {
			t.Errorf("%s is %s", f.Path, f.State)
		}
	}
	r.write("apis/shop/v1beta1/more.go", "package v1beta1\n\n// +genclient:oops\ntype More struct{}\n")
	var stdout, stderr bytes.Buffer
	t.Chdir(r.dir)
	if status := execute(
		t.Context(), []string{"generate", "--json", "./apis/..."}, &stdout, &stderr,
	); status != statusFailed {
		t.Errorf("exit status %d with a problem", status)
	}
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Problems) != 1 || got.Problems[0].Line != 3 ||
		got.Problems[0].File != "apis/shop/v1beta1/more.go" {
		t.Errorf("problems %+v, stderr %s", got.Problems, stderr.Bytes())
	}
}
