package layout

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// published are the released modules. internal/release has the same list.
var published = []string{".", "contrib/prometheus", "contrib/controller-runtime", "crdcheck", "envtest"}

// withoutExample are the public packages whose documentation has no example that runs, with the reason.
var withoutExample = map[string]string{}

// TestExamples checks that the documentation of each public package has an example of the whole package,
// which is shown first, and that go test runs it. For packages below runtime/gen, generated code is the
// example.
func TestExamples(t *testing.T) {
	checked, used := 0, map[string]bool{}
	for _, folder := range published {
		for _, p := range list(t, folder, "./...") {
			name := strings.TrimPrefix(p.ImportPath, module+"/")
			if p.Name == "main" || isInternal(name) || strings.HasPrefix(name, "examples/") ||
				strings.HasPrefix(name, "runtime/gen/") || exported(t, p.Dir) == 0 {
				continue
			}
			checked++
			switch has := hasExample(t, p.Dir, p.XTestGoFiles); {
			case withoutExample[name] != "":
				used[name] = true
				if has {
					t.Errorf("%s has an example: take it from withoutExample", name)
				}
			case !has:
				t.Errorf("%s has no func Example() with an output, in a file of package %s_test", name, p.Name)
			}
		}
	}
	if checked < 25 {
		t.Errorf("only %d public packages were found", checked)
	}
	for name := range withoutExample {
		if !used[name] {
			t.Errorf("withoutExample has %s, which isn't a public package", name)
		}
	}
}

func isInternal(name string) bool { return slices.Contains(strings.Split(name, "/"), "internal") }

// hasExample reports whether one of the test files of a package has an example of the package that runs.
func hasExample(t *testing.T, dir string, names []string) bool {
	t.Helper()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return slices.ContainsFunc(doc.Examples(files...), func(e *doc.Example) bool {
		return e.Name == "" && e.Suffix == "" && e.Output != ""
	})
}
