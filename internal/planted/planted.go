// Package planted tests tests: it builds the tests of a package with bugs planted in the source files that
// they test, to see whether the tests find the bugs.
package planted

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Bug is a bug that can be planted, see [Replace].
type Bug struct{ file, old, new string }

// Replace returns the bug that a source file has with the text new in place of old. In new, BUG is true in
// the process that should have the bug, and false in others. file is relative to the folder runtime.
func Replace(file, old, new string) Bug { return Bug{file, old, new} }

// Tests are the tests of a package, built with all bugs.
type Tests struct{ binary string }

// Build builds the tests of the package in the working directory, with a copy of the sources that has all the
// bugs, by name. A bug is inactive unless Run names it. runtime is the path of the folder of that name.
func Build(t *testing.T, runtime string, bugs map[string]Bug) Tests {
	t.Helper()
	dir := t.TempDir()
	absolute := func(path string) string {
		p, err := filepath.Abs(filepath.Join(runtime, path))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	sources := map[string]string{}
	for name, bug := range bugs {
		path := absolute(bug.file)
		if sources[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[path] = string(text)
		}
		if n := strings.Count(sources[path], bug.old); n != 1 {
			t.Fatalf("%s: %q is %d times in %s; where should the bug be now?", name, bug.old, n, bug.file)
		}
		sources[path] = strings.Replace(sources[path], bug.old,
			strings.ReplaceAll(bug.new, "BUG", fmt.Sprintf("planted(%q)", name)), 1)
		where := filepath.Dir(bug.file)
		sources[absolute(where+"/planted.go")] = "package " + filepath.Base(where) + `

import "os"

var plantedBug = os.Getenv("PLANTED_BUG")

func planted(bug string) bool { return bug == plantedBug }
`
	}
	overlay := map[string]string{}
	for path, text := range sources {
		replacement := filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		overlay[path] = replacement
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
	if out, err := exec.Command("go", "test", "-c", "-overlay", listed, "-o", binary,
		".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
