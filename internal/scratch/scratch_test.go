package scratch

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// checkout is a repository with this one's module path, and a module in it.
var checkout = map[string]string{
	"go.mod":            "module github.com/kubewright/kubewright\n" + other,
	"go.sum":            "",
	"hello.go":          "package hello\nconst Word = `hello`",
	"other/go.mod":      "module example.com/other",
	"other/other.go":    "package other\nconst Word = `, world`",
	"test/apart/go.mod": "module github.com/kubewright/kubewright/test/apart\n" + apart + other,
	"test/apart/go.sum": "",
}

const (
	other = `
require example.com/other v0.0.0
replace example.com/other => "CHECKOUT/other"
`
	apart = `
tool github.com/kubewright/kubewright/cmd/unused
require github.com/kubewright/kubewright v0.0.0
replace github.com/kubewright/kubewright => ../..
`
)

const program = `package main

import (
	"fmt"
	"os"

	"example.com/other"
	"github.com/kubewright/kubewright"
)

func main() {
	fmt.Print(hello.Word, other.Word)
	fmt.Fprint(os.Stderr, "aside")
	os.Exit(len(os.Args) - 1)
}
`

// TestModule checks that a program in a scratch module can import the repository, and the requirements of the
// module that it is like.
func TestModule(t *testing.T) {
	repository := &Module{filepath.Join(t.TempDir(), "the checkout")}
	text := func(name string) string {
		return strings.ReplaceAll(checkout[name], "CHECKOUT", filepath.ToSlash(repository.Dir))
	}
	for name := range checkout {
		if err := repository.Write(name, text(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, like := range []string{".", "test/apart"} {
		t.Run(like, func(t *testing.T) {
			// Neither variable may affect the module.
			t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
			t.Setenv("GOFLAGS", "-mod=vendor")
			m, err := New(t.TempDir(), "example.com/scratch", filepath.Join(repository.Dir, like))
			if err != nil {
				t.Fatal(err)
			}
			if after, err := os.ReadFile(filepath.Join(repository.Dir, like, "go.mod")); err != nil ||
				string(after) != text(path.Join(like, "go.mod")) {
				t.Errorf("the module that was copied from has changed: %s, %v", after, err)
			}
			if err := m.Write("cmd/program/main.go", program); err != nil {
				t.Fatal(err)
			}
			if out, err := m.Run("go", "run", "-mod=readonly",
				"example.com/scratch/cmd/program"); out != "hello, world" || err != nil {
				t.Errorf("%q, %v", out, err)
			}
			_, err = m.Run("go", "run", "./cmd/program", "fail")
			for _, part := range []string{
				"go run ./cmd/program fail: exit status 1\n", "aside", "hello, world",
			} {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in the error %v", part, err)
				}
			}
		})
	}
}

const tests = `package tested

import "testing"

func TestPasses(t *testing.T) {}
func TestSkips(t *testing.T)  { t.Skip("no moon") }
func TestFails(t *testing.T)  { t.Run("deep", func(t *testing.T) { t.Error("too deep") }) }
`

// TestResults checks what Test returns for tests that pass, fail and are skipped, and for a package that
// doesn't compile.
func TestResults(t *testing.T) {
	m := &Module{t.TempDir()}
	for name, text := range map[string]string{
		"go.mod": "module example.com/scratch", "tested/tested_test.go": tests,
		"broken/broken_test.go": "package broken\nvar x missing\n",
	} {
		if err := m.Write(name, text); err != nil {
			t.Fatal(err)
		}
	}
	results, err := m.Test("./...")
	if err == nil || !strings.Contains(err.Error(), "undefined: missing") {
		t.Errorf("error %v", err)
	}
	got := map[string]string{}
	for _, r := range results {
		got[path.Base(r.Package)+" "+r.Test] = r.Action
		if r.Test == "TestFails/deep" && !strings.Contains(r.Output, "too deep") {
			t.Errorf("output %q", r.Output)
		}
	}
	want := map[string]string{
		"tested TestPasses": "pass", "tested TestSkips": "skip", "tested TestFails": "fail",
		"tested TestFails/deep": "fail", "tested ": "fail", "broken ": "fail",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
