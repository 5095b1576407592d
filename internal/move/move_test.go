package move

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubewright/kubewright/internal/scratch"
)

var update = flag.Bool("update", false, "write the expected reports and files into testdata")

// repo is a git repository with a module, whose requirements are those of a module of this repository.
type repo struct {
	t   *testing.T
	dir string
}

// newRepo makes a module with some files. Its k8s.io modules get the version k8s, if that isn't "".
func newRepo(t *testing.T, like, k8s string, files []txtar.File) *repo {
	t.Helper()
	r := &repo{t, filepath.Join(scratch.FixedForTest(t), "example")}
	mod := r.readFile(filepath.Join(like, "go.mod"))
	for line := range strings.Lines(mod) {
		if ours := strings.Contains(line, own) && !strings.HasPrefix(line, "module"); ours {
			mod = strings.Replace(mod, line, "", 1)
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(mod, "module "), "\n")
	mod = strings.Replace(mod, name, "example.com/x", 1)
	mod = strings.NewReplacer("replace (\n)\n", "", "require (\n)\n", "").Replace(mod)
	r.write("go.sum", r.readFile(filepath.Join(like, "go.sum")))
	for _, f := range files {
		if f.Name == "go.mod" { // an addition
			mod += "\n" + string(f.Data)
		} else {
			r.write(f.Name, string(f.Data))
		}
	}
	if k8s != "" {
		mod = strings.ReplaceAll(mod, " v0.37.2", " "+k8s)
	}
	r.write("go.mod", mod)
	r.git("init", "-q")
	r.commit()
	return r
}

func (r *repo) readFile(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func (r *repo) read(name string) string {
	r.t.Helper()
	return r.readFile(filepath.Join(r.dir, name))
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) run(name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(cmd.Environ(), "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (r *repo) git(args ...string) string { r.t.Helper(); return r.run("git", args...) }

func (r *repo) commit() {
	r.t.Helper()
	r.git("add", "-A", "-f")
	r.git("-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "--allow-empty", "-m", "x")
}

// options are those of a run in the repository.
func (r *repo) options() Options {
	return Options{Dir: r.dir, ClientGo: "v0.37.2", ControllerRuntime: "v0.25.2", Clone: r.clone()}
}

// clone is this repository.
func (r *repo) clone() string {
	r.t.Helper()
	clone, err := filepath.Abs("../..")
	if err != nil {
		r.t.Fatal(err)
	}
	return clone
}

// move runs the command and returns its report.
func (r *repo) move(o Options) string {
	r.t.Helper()
	report, err := Run(r.t.Context(), o)
	if err != nil {
		r.t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := report.WriteTo(&text); err != nil {
		r.t.Fatal(err)
	}
	return steady(strings.ReplaceAll(text.String(), r.clone(), "CLONE"))
}

// steady returns a report without what changes with each dependency of this repository: line numbers of
// go.mod.
func steady(report string) string {
	var lines []string
	for line := range strings.Lines(report) {
		if strings.Contains(line, "go mod tidy changes") && strings.Contains(line, "other requirement") {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "go.mod:"); ok && rest[0] != ' ' {
			rest = rest[strings.Index(rest, ": ")+2:]
			line = "go.mod: " + rest
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// TestMove moves the modules in testdata. An archive has the module's files, the expected report, and below
// want/ the files as they are after a run with -w; go.mod has additions to a go.mod like that of this
// repository. Each module goes there and back: a second run changes nothing, and git sees no difference
// after the way back, neither right after the move, nor in .go files when the move was committed (the latter
// only without -short).
func TestMove(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testArchive(t, name)
		})
	}
}

func testArchive(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	like, k8s := "../..", ""
	if strings.Contains(string(archive.Comment), "controller-runtime") {
		if testing.Short() {
			t.Skip("compiles controller-runtime")
		}
		like = "../../contrib/controller-runtime"
	}
	if strings.Contains(string(archive.Comment), "v0.36") {
		k8s = "v0.36.1"
	}
	var files []txtar.File
	for _, f := range archive.Files {
		if f.Name != "report" && !strings.HasPrefix(f.Name, "want/") {
			files = append(files, f)
		}
	}
	r := newRepo(t, like, k8s, files)
	o := r.options()
	report := r.move(o)
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("a run without -w changes files:\n%s", changed)
	}
	o.Write = true
	r.move(o)
	got := append(files, txtar.File{Name: "report", Data: []byte(report)})
	for _, f := range files {
		if text := r.read(f.Name); f.Name != "go.mod" && text != string(f.Data) {
			got = append(got, txtar.File{Name: "want/" + f.Name, Data: []byte(text)})
		}
	}
	compare(t, name, archive, got)
	for _, f := range got {
		if moved, ok := strings.CutPrefix(f.Name, "want/"); ok {
			r.run("go", "vet", "./"+filepath.Dir(moved))
		}
	}

	o.Clone = "" // go.mod has it
	moved := r.git("diff")
	second := r.move(o)
	if r.git("diff") != moved || !strings.HasSuffix(second, "Nothing to change.\n") {
		t.Errorf("a second run changes something:\n%s", second)
	}
	o.Back = true
	r.move(o)
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("right after -w, --back leaves differences:\n%s\n%s", changed, r.git("diff"))
	}

	if testing.Short() {
		return
	}
	o.Back, o.Clone = false, r.clone()
	r.move(o)
	r.commit()
	o.Back, o.Clone = true, ""
	r.move(o)
	if changed := r.git("diff", "--stat", "HEAD~", "--", "*.go"); changed != "" {
		t.Errorf("--back after a commit leaves differences:\n%s", changed)
	}
	if mod := r.read("go.mod"); strings.Contains(mod, own) || strings.Contains(mod, "client-go v0.36") {
		t.Errorf("go.mod after --back:\n%s", mod)
	}
}

// compare compares an archive with the results, or writes it.
func compare(t *testing.T, name string, archive *txtar.Archive, got []txtar.File) {
	t.Helper()
	result := txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: got})
	if *update {
		if err := os.WriteFile(name, result, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := txtar.Format(archive); !bytes.Equal(result, want) {
		t.Errorf("%s: got\n%s\nrun with -update to accept it", name, result)
	}
}
