package facades

import (
	"cmp"
	"errors"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// suite has the tests of a package of client-go, to be run on our facade of that package.
type suite struct {
	// original is the folder of the package in client-go, facade that of ours in this repository.
	original, facade string
	// user is the folder of a package of client-go that uses the original. If it isn't empty, that package
	// is copied, with its tests.
	user string
	// uses is a type of the package. Each file gets a use of it, because some files would otherwise import the
	// package without using it.
	uses string
	// helpers are the files without tests that other files need.
	helpers []string
	// edits has the replacements in a file, in order.
	edits map[string][]edit
	// either is like edits, for files that differ between minors of client-go: one replacement of a file must
	// match, not all.
	either map[string][]edit
	// leftOut has the files, tests and subtests that don't run, each with the reason.
	leftOut map[string]string
}

// edit replaces each match of a regular expression. There must be at least one.
type edit struct{ old, new string }

// TestUpstream runs client-go's own tests of what is ours in the facades: it copies each package's tests from
// the module cache, with a dot import of the facade in place of the package itself. Unexported names that the
// tests use come from a file of ours in testdata. Each of client-go's tests must either run or be left out
// for a reason. TestUpstream also fails for a reason without a test.
func TestUpstream(t *testing.T) {
	s := newSandbox(t)
	run := []string{"-count=1", "-timeout=5m"}
	var skipped []string
	for _, suite := range suites {
		skipped = append(skipped, suite.copy(t, s)...)
		run = append(run, "./"+suite.name())
	}
	if len(skipped) > 0 {
		run = append(run, "-skip="+strings.Join(skipped, "|"))
	}
	results, err := s.Test(run...)
	ran := map[string]bool{}
	for _, r := range results {
		name := strings.TrimPrefix(r.Package, sandboxPath+"/") + "/" + r.Test
		ran[name] = true
		t.Run(name, func(t *testing.T) {
			t.Log(r.Output)
			switch r.Action {
			case "fail":
				t.Fail()
			case "skip":
				t.Error("a skipped test belongs in leftOut")
			}
		})
	}
	if err != nil || len(results) == 0 {
		t.Errorf("%v; %d tests ran", err, len(results))
	}
	for _, suite := range suites {
		total, left := 0, 0
		for file, tests := range suite.tests(t, s) {
			for _, test := range tests {
				total++
				out := suite.leavesOut(file, test)
				if out {
					left++
				}
				if name := suite.name() + "/" + test; ran[name] == out {
					t.Errorf("%s of %s ran: %t, is left out: %t", test, file, ran[name], out)
				}
			}
		}
		t.Logf("%s: %d of client-go's %d tests ran, %d are left out", suite.name(), total-left, total, left)
	}
}

// folder returns the folder of the tests in client-go.
func (s suite) folder() string { return cmp.Or(s.user, s.original) }

// name returns the last element of the path of the package with the tests.
func (s suite) name() string { return path.Base(s.folder()) }

// leavesOut reports whether a test, or its whole file, is left out.
func (s suite) leavesOut(file, test string) bool {
	return s.leftOut[file] != "" || s.leftOut[test] != ""
}

// tests returns the names of all tests and examples of the package, by file.
func (s suite) tests(t *testing.T, from *sandbox) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, file := range s.files(t, from) {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		all[file] = nil
		for _, f := range functions(parse(t, from.upstream(s.folder()+"/"+file))) {
			if isTest(f) {
				all[file] = append(all[file], f.Name.Name)
			}
		}
	}
	return all
}

// files returns the names of the package's files.
func (s suite) files(t *testing.T, from *sandbox) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from.clientGo, s.folder(), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", s.folder(), err)
	}
	for _, file := range files {
		names = append(names, filepath.Base(file))
	}
	return names
}

// isTest reports whether a function is a test or an example.
func isTest(f *ast.FuncDecl) bool {
	name := f.Name.Name
	return f.Recv == nil && name != "TestMain" &&
		(strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example"))
}

// copy copies the files with tests to run, and what they need, to the sandbox. It returns what go test must
// skip.
func (s suite) copy(t *testing.T, to *sandbox) (skip []string) {
	t.Helper()
	write := func(file, text string) { to.MustWrite(t, filepath.Join(s.name(), file), text) }
	ours := s.copyShim(t, write)
	known, tests := map[string]bool{}, s.tests(t, to)
	for _, file := range s.files(t, to) {
		known[file] = true
		runs := slices.Contains(s.helpers, file) || s.user != "" && !strings.HasSuffix(file, "_test.go")
		for _, test := range tests[file] {
			known[test] = true
			runs = runs || !s.leavesOut(file, test)
		}
		if !runs {
			continue
		}
		text := s.move(to.upstream(s.folder() + "/" + file))
		if s.user == "" {
			text = cut(t, text, func(f *ast.FuncDecl) bool {
				name := f.Name.Name
				return f.Recv == nil && (ours[name] || isTest(f) && s.leavesOut(file, name) ||
					strings.HasPrefix(name, "Benchmark"))
			})
		}
		for _, e := range s.edits[file] {
			text = replace(t, text, e)
		}
		if edits := s.either[file]; len(edits) > 0 {
			text = replaceEither(t, text, edits)
		}
		write(file, withoutUnusedImports(t, text))
	}
	for _, edits := range []map[string][]edit{s.edits, s.either} {
		for file := range edits {
			if !known[file] {
				t.Errorf("%s is edited, and isn't in %s", file, s.folder())
			}
		}
	}
	for entry := range s.leftOut {
		test, sub, isSub := strings.Cut(entry, "/")
		switch {
		case !known[test]:
			t.Errorf("%s is left out, and isn't in %s", entry, s.folder())
		case isSub:
			s.mustHave(t, to, test, sub)
			skip = append(skip, "^"+test+"$/^"+sub+"$")
		}
	}
	return skip
}

// copyShim copies our file with the unexported names, if there is one, and returns its functions.
func (s suite) copyShim(t *testing.T, write func(file, text string)) map[string]bool {
	t.Helper()
	ours := map[string]bool{}
	text, err := os.ReadFile(filepath.Join("testdata", s.name(), "shim_test.go"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions(parse(t, string(text))) {
		if f.Recv == nil {
			ours[f.Name.Name] = true
		}
	}
	write("shim_test.go", string(text))
	return ours
}

// mustHave fails the test if an upstream test doesn't contain the name of a subtest.
func (s suite) mustHave(t *testing.T, from *sandbox, test, sub string) {
	t.Helper()
	for file, tests := range s.tests(t, from) {
		text := from.upstream(s.folder() + "/" + file)
		if slices.Contains(tests, test) && !strings.Contains(text, `"`+sub+`"`) {
			t.Errorf("%s/%s is left out, and isn't in %s", test, sub, file)
		}
	}
}

// move changes a file of the package, or one that imports it, to import the facade.
func (s suite) move(text string) string {
	facade := `"` + kubewright + s.facade + `"`
	text = strings.Replace(text, `"`+clientGo+s.original+`"`, facade, 1)
	if s.user != "" {
		return text
	}
	clause := "package " + s.name() + "\n"
	if moved := strings.Replace(text, clause, clause+"\nimport . "+facade+"\n", 1); moved != text {
		return moved + "\nvar _ " + s.uses + "\n"
	}
	return text
}

// replace makes an edit.
func replace(t *testing.T, text string, e edit) string {
	t.Helper()
	old := regexp.MustCompile(e.old)
	if !old.MatchString(text) {
		t.Errorf("there is no %s", e.old)
	}
	return old.ReplaceAllString(text, e.new)
}

// replaceEither makes those edits that match.
func replaceEither(t *testing.T, text string, edits []edit) string {
	t.Helper()
	before := text
	for _, e := range edits {
		text = regexp.MustCompile(e.old).ReplaceAllString(text, e.new)
	}
	if text == before {
		t.Errorf("there is none of %q", edits)
	}
	return text
}
