package move

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// small is a module with one file that moves.
var small = []txtar.File{{Name: "a/a.go", Data: []byte("package a\n\n" +
	"import \"k8s.io/client-go/tools/cache\"\n\nvar Key = cache.MetaNamespaceKeyFunc\n")}}

// TestRefuses checks the errors: each says what to do, and nothing is written.
func TestRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(r *repo, o *Options)
		want    string
	}{
		"a file that isn't committed": {func(r *repo, o *Options) {
			r.write("a/a.go", r.read("a/a.go")+"// changed\n")
		}, "nothing is written: -w changes only files that are committed, so that git can restore them; commit " +
			"or stash these:\n    a/a.go"},
		"a go.mod that isn't committed": {func(r *repo, o *Options) {
			r.write("go.mod", r.read("go.mod")+"// changed\n")
		}, "commit or stash these:\n    go.mod"},
		"a file that git ignores": {func(r *repo, o *Options) {
			r.write(".gitignore", "/b/\n")
			r.commit()
			r.write("b/b.go", "package b\n\nimport _ \"k8s.io/client-go/tools/cache\"\n")
		}, "commit or stash these:\n    b"},
		"no repository": {func(r *repo, o *Options) {
			if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
				r.t.Fatal(err)
			}
		}, errNoRepository.Error()},
		"no module": {func(r *repo, o *Options) { o.Dir = r.t.TempDir() },
			"no go.mod here or in any folder above; run kubewright in a module"},
		"no release": {func(r *repo, o *Options) { o.Clone = "" },
			"this kubewright is no release that a go.mod could require; name a clone of it with --kubewright DIR"},
		"no clone": {func(r *repo, o *Options) { o.Clone = "a" },
			"--kubewright a: there is no go.mod of " + own},
		"a newer client-go": {func(r *repo, o *Options) { o.ClientGo = "v0.36.9" },
			"example.com/x requires k8s.io/client-go v0.37.2, which is newer than this kubewright is for: use the " +
				"kubewright of that minor version"},
		"kubewright itself": {func(r *repo, o *Options) {
			r.write("go.mod", strings.Replace(r.read("go.mod"), "example.com/x", own+"/x", 1))
		}, own + "/x: kubewright is built on this module, so it can't move"},
		"an empty go.mod": {func(r *repo, o *Options) { r.write("go.mod", "") }, "go.mod: it names no module"},
		"a broken go.mod": {func(r *repo, o *Options) { r.write("go.mod", "module") }, "go.mod:1: "},
		"a file that doesn't parse": {func(r *repo, o *Options) { r.write("a/b.go", "package a\n\nfunc\n") },
			"a/b.go:3:6: expected 'IDENT'"},
		"a missing module": {func(r *repo, o *Options) {
			r.write("a/b.go", "package a\n\nimport _ \"example.com/missing\"\n")
			o.Dir = filepath.Join(r.dir, "a")
		}, "nothing can be checked, because the module fails without any change: go mod tidy: exit status 1\n" +
			"go: finding module for package example.com/missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "../..", "", small)
			o := r.options()
			o.Write = true
			test.prepare(r, &o)
			before := r.read("a/a.go") + r.read("go.mod")
			_, err := Run(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v\nwant\n%s", err, test.want)
			}
			if r.read("a/a.go")+r.read("go.mod") != before {
				t.Error("something was written")
			}
		})
	}
}

// TestNothing checks modules in which nothing moves.
func TestNothing(t *testing.T) {
	r := newRepo(t, "../..", "", small)
	o := r.options()
	o.Write, o.Back = true, true
	if got := r.move(o); got != "Nothing to change: go.mod doesn't require "+own+".\n" {
		t.Errorf("--back of a module that hasn't moved:\n%s", got)
	}
	r.write("go.mod", "module example.com/x\n\ngo 1.26.0\n")
	o.Back = false
	const neither = "Nothing to change: go.mod requires neither k8s.io/client-go nor " +
		"sigs.k8s.io/controller-runtime.\n"
	if got := r.move(o); got != neither {
		t.Errorf("a module without client-go:\n%s", got)
	}
}

// staysAndReturns checks that what has moved compiles, that a second run changes nothing, and that the way
// back leaves no difference.
func (r *repo) staysAndReturns(o Options) {
	r.t.Helper()
	r.run("go", "vet", "./...")
	o.Clone = ""
	if report := r.move(o); !strings.HasSuffix(report, "\nNothing to change.\n") {
		r.t.Errorf("a second run:\n%s", report)
	}
	o.Back = true
	r.move(o)
	if changed := r.git("status", "--porcelain"); changed != "" {
		r.t.Errorf("--back leaves differences:\n%s", changed)
	}
}

// TestUntidy moves a module with a tool whose own imports can't be had, so go mod tidy fails.
func TestUntidy(t *testing.T) {
	r := newRepo(t, "../..", "", append([]txtar.File{
		{Name: "go.mod", Data: []byte("require example.com/tool v0.0.0\n\nreplace example.com/tool => ./tool\n\n" +
			"tool example.com/tool\n")},
		{Name: "tool/go.mod", Data: []byte("module example.com/tool\n")},
		{Name: "tool/main.go",
			Data: []byte("package main\n\nimport _ \"example.com/absent.test\"\n\nfunc main() {}\n")},
	}, small...))
	o := r.options()
	o.Write = true
	report := r.move(o)
	if !strings.Contains(report, "\ngo.mod: go mod tidy fails, so go.mod may require more than it has to: ") ||
		!strings.HasSuffix(report, "\n1 line changed in 1 Go file.\n") {
		t.Errorf("the report is\n%s", report)
	}
	r.staysAndReturns(o)
}

// TestPins moves a module whose go.mod replaces modules of Kubernetes by versions of themselves, which would
// keep those below what kubewright needs.
func TestPins(t *testing.T) {
	r := newRepo(t, "../..", "v0.36.1", append([]txtar.File{
		{Name: "go.mod", Data: []byte("replace (\n\tk8s.io/api => k8s.io/api v0.37.2\n" +
			"\tk8s.io/apimachinery => k8s.io/apimachinery v0.37.2\n\tk8s.io/client-go => k8s.io/client-go v0.37.2\n" +
			"\tk8s.io/kubernetes => k8s.io/kubernetes v1.36.1\n" +
			"\tk8s.io/legacy-cloud-providers => k8s.io/legacy-cloud-providers v0.37.2\n)\n")},
	}, small...))
	o := r.options()
	o.Write = true
	report := r.move(o)
	for _, want := range []string{
		"\ngo.mod: k8s.io/client-go v0.36.1 -> v0.37.2\n",
		"\ngo.mod: the replacement of k8s.io/client-go: v0.36.1 -> v0.37.2\n",
		"\ngo.mod: the replacement of k8s.io/kubernetes: v1.36.1 -> v1.37.2\n",
		"\ngo.mod: k8s.io/legacy-cloud-providers is replaced by k8s.io/legacy-cloud-providers v0.36.1, " +
			"whatever version is required; that isn't raised: check that it fits client-go v0.37.2\n",
	} {
		if strings.Count(report, want) != 1 {
			t.Errorf("%q isn't in the report:\n%s", want, report)
		}
	}
	if strings.Count(report, " is replaced by ") != 1 {
		t.Errorf("what was raised is to be raised by hand:\n%s", report)
	}
	r.staysAndReturns(o)
}

// TestWrites checks that all files are replaced or none.
func TestWrites(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	none := filepath.Join(dir, "missing", "three")
	for name, text := range map[string]string{one: "1", two: "2"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		got := ""
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			if err != nil {
				text = []byte("?")
			}
			got += entry.Name() + "=" + string(text) + " "
		}
		if got != want {
			t.Errorf("the folder has %s, want %s", got, want)
		}
	}
	if err := writeAll(map[string][]byte{one: []byte("a"), two: nil, none: []byte("b")}); err == nil {
		t.Error("a file in no folder was written")
	}
	check("one=1 two=2 ")
	// The last rename fails, because a folder has the name.
	if err := os.MkdirAll(filepath.Join(dir, "zero", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replaceAll([]replacement{
		{name: one, next: two, existed: true, old: []byte("1"), mode: 0o600},
		{name: filepath.Join(dir, "zero"), next: one},
	}); err == nil {
		t.Error("a folder was replaced by a file")
	}
	check("one=1 zero=? ")
}
