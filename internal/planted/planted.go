// Package planted tests tests: it builds the tests of a package with bugs planted in the functions that they
// test, to see whether the tests find the bugs.
package planted

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bug is a bug that can be planted, see [In].
type Bug struct{ function, old, new string }

// In returns the bug that a function has with the text new in place of old. In new, BUG is true in the
// process that should have the bug, and false in others.
//
// The function is named without type parameters: "(*writer).apply" for a method apply of *writer[K]. If
// several packages below the root of [Build] have such a function, the package's name precedes it:
// "informer.(*writer).apply". So the bug stays in its function when that moves. old is part of the function's
// source, signature included, and occurs there once. It consists of whole tokens; spaces, line breaks,
// comments and a comma before a closing bracket don't matter.
func In(function, old, new string) Bug { return Bug{function, old, new} }

// Tests are the tests of a package, built with all bugs.
type Tests struct{ binary string }

// Build builds the tests of the package in the working directory, with a copy of the sources that has all the
// bugs, by name. A bug is inactive unless Run names it. root is the folder below which the functions are.
//
// With -short, Build checks that the bugs can be planted and compile, and skips the test.
func Build(t *testing.T, root string, bugs map[string]Bug) Tests {
	t.Helper()
	sources, err := plant(root, bugs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]string{}
	packages := map[string]bool{}
	for path, text := range sources {
		replacement := filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		overlay[path] = replacement
		packages[filepath.Dir(path)] = true
		if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	listed, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "planted.test")
	if err := os.WriteFile(listed, list, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if testing.Short() {
		run(slices.Concat([]string{"build", "-overlay", listed}, slices.Sorted(maps.Keys(packages)))...)
		t.Skipf("%d bugs compile; without -short, tests have to find them", len(bugs))
	}
	run("test", "-c", "-overlay", listed, "-o", binary, ".")
	return Tests{binary}
}

// Run runs the tests that match a pattern, with the named bug or, if bug is "", without any. It returns their
// output, and an error if they failed. The timeout of a minute finds bugs that make the tests hang.
func (t Tests) Run(bug, pattern string, args ...string) (output string, err error) {
	args = append([]string{"-test.run=^(" + pattern + ")$", "-test.failfast", "-test.timeout=60s"}, args...)
	run := exec.Command(t.binary, args...)
	run.Env = append(os.Environ(), "PLANTED_BUG="+bug)
	out, err := run.CombinedOutput()
	return string(out), err
}
