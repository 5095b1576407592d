package move

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestBackStays returns from a module that uses what client-go doesn't have: that stays, with the
// requirement.
func TestBackStays(t *testing.T) {
	r := newRepo(t, "../..", "", []txtar.File{
		{Name: "go.mod", Data: []byte("require " + own + " v0.0.0\n\nreplace " + own + " => CLONE\n\ntool " + own +
			"/cmd/kubewright\n")},
		{Name: "plain/plain.go", Data: []byte("package plain\n\nimport \"" + own + "/runtime/cache\"\n\n" +
			"var Key = cache.MetaNamespaceKeyFunc\n")},
		{Name: "more/more.go", Data: []byte("package more\n\nimport \"" + own + "/runtime/workqueue\"\n\n" +
			"var Run = workqueue.Run[string]\n")},
		{Name: "wrap/wrap.go", Data: []byte("package wrap\n\nimport \"" + own + "/runtime/listwatch\"\n\n" +
			"var Wrap = listwatch.Wrap\n")},
	})
	r.write("go.mod", strings.Replace(r.read("go.mod"), "CLONE", r.clone(), 1))
	r.run("go", "mod", "tidy")
	r.commit()
	o := r.options()
	o.Back, o.Write, o.Clone = true, true, ""
	const want = `Changed:
go.mod: go mod tidy changes what is a direct requirement
plain/plain.go:3: github.com/kubewright/kubewright/runtime/cache -> k8s.io/client-go/tools/cache

Stays as it is, because of these errors:
more/more.go:5: example.com/x/more: undefined: workqueue.Run

Left to you:
go.mod: the tool github.com/kubewright/kubewright/cmd/kubewright keeps the requirement of kubewright
wrap/wrap.go:3: runtime/listwatch of kubewright has no counterpart that this command knows; its requirement stays

1 line changed in 1 Go file.
`
	if got := r.move(o); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if changed := r.git("status", "--porcelain"); changed != " M go.mod\n M plain/plain.go\n" {
		t.Errorf("changed files:\n%s", changed)
	}
	r.run("go", "vet", "./...")
	if got := r.move(o); !strings.HasSuffix(got, "\nNothing to change.\n") {
		t.Errorf("a second run:\n%s", got)
	}
	r.write("plain/plain.go", strings.Replace(r.read("plain/plain.go"), "k8s.io/client-go/tools",
		own+"/runtime", 1)+"// changed\n")
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "\n    plain/plain.go") {
		t.Errorf("with a file that isn't committed: %v", err)
	}
}
