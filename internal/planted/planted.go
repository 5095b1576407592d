// Package planted tests tests: it builds the tests of a package with bugs planted in the functions that they
// test, to see whether the tests find the bugs.
package planted

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// Bug is a bug that can be planted, see [In].
type Bug struct {
	places []place
	// Guarantees are what the bug breaks, see [Bug.Breaks].
	Guarantees []guarantee.Guarantee
	// Report is where the bug was reported, if others really had it, and Rig the tests that have to find it. See
	// [Bug.From].
	Report, Rig string
}

// place is where a bug is, and how.
type place struct{ function, old, new string }

// In returns the bug that a function has with the text new in place of old. In new, BUG is true in the
// process that should have the bug, and false in others.
//
// The function is named without type parameters: "(*writer).apply" for a method apply of *writer[K]. If
// several packages below the root of [Build] have such a function, the package's name precedes it:
// "informer.(*writer).apply". So the bug stays in its function when that moves. old is part of the function's
// source, signature included, and occurs there once. It consists of whole tokens; spaces, line breaks,
// comments and a comma before a closing bracket don't matter.
func In(function, old, new string) Bug { return Bug{places: []place{{function, old, new}}} }

// And returns the bug with another place, as in [In].
func (b Bug) And(function, old, new string) Bug {
	b.places = append(slices.Clip(b.places), place{function, old, new})
	return b
}

// Breaks returns the bug with its guarantee, and with others if it breaks several. Each guarantee has a bug
// that is its own, which tests find.
func (b Bug) Breaks(g guarantee.Guarantee, others ...guarantee.Guarantee) Bug {
	b.Guarantees = append([]guarantee.Guarantee{g}, others...)
	return b
}

// From returns the bug with its report and its rig.
func (b Bug) From(report, rig string) Bug {
	b.Report, b.Rig = report, rig
	return b
}

// Sources are a copy of the sources that has all the bugs.
type Sources struct {
	dir, overlay string
	packages     []string // the folders of what differs
}

// Tests are the tests of a package, built with all bugs.
type Tests struct{ binary string }

// Build builds the tests of the package in the working directory, with a copy of the sources that has all the
// bugs, by name. A bug is inactive unless Run names it. root is the folder below which the functions are.
//
// With -short, Build checks that the bugs can be planted and compile, and skips the test.
func Build(t *testing.T, root string, bugs map[string]Bug) Tests {
	t.Helper()
	sources, err := Plant(t.TempDir(), root, bugs)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		if err := sources.Compile(); err != nil {
			t.Fatal(err)
		}
		t.Skipf("%d bugs compile; without -short, tests have to find them", len(bugs))
	}
	tests, err := sources.Build(".")
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// Plant writes the files that have bugs to the folder dir. root is the folder below which the functions are.
func Plant(dir, root string, bugs map[string]Bug) (Sources, error) {
	changed, err := plant(root, bugs)
	if err != nil {
		return Sources{}, err
	}
	overlay := map[string]string{}
	packages := map[string]bool{}
	for path, text := range changed {
		replacement := filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		overlay[path] = replacement
		packages[filepath.Dir(path)] = true
		if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
			return Sources{}, err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return Sources{}, err
	}
	s := Sources{dir, filepath.Join(dir, "overlay.json"), slices.Sorted(maps.Keys(packages))}
	return s, os.WriteFile(s.overlay, list, 0o600)
}

// Compile compiles the packages that have bugs.
func (s Sources) Compile() error {
	return runGo(".", slices.Concat([]string{"build", "-overlay", s.overlay}, s.packages)...)
}

// Build builds the tests of the package in a folder, with flags of go test.
func (s Sources) Build(folder string, flags ...string) (Tests, error) {
	binary, err := os.CreateTemp(s.dir, "*.test")
	if err != nil {
		return Tests{}, err
	}
	if err := binary.Close(); err != nil {
		return Tests{}, err
	}
	return Tests{binary.Name()}, runGo(folder,
		slices.Concat([]string{"test", "-c", "-overlay", s.overlay, "-o", binary.Name()}, flags, []string{"."})...)
}

func runGo(folder string, args ...string) error {
	command := exec.Command("go", args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// Run runs the tests that match a pattern, with the named bug or, if bug is "", without any. It returns their
// output, and an error if they failed. The timeout of a minute finds bugs that make the tests hang.
func (t Tests) Run(bug, pattern string, args ...string) (output string, err error) {
	return t.RunIn(".", bug, "^("+pattern+")$", args...)
}

// RunIn is Run for a package that isn't in the working directory, and with a pattern as that of -test.run.
func (t Tests) RunIn(folder, bug, pattern string, args ...string) (output string, err error) {
	args = append([]string{"-test.run=" + pattern, "-test.failfast", "-test.timeout=60s"}, args...)
	run := exec.Command(t.binary, args...)
	run.Dir = folder
	run.Env = append(os.Environ(), "PLANTED_BUG="+bug)
	out, err := run.CombinedOutput()
	return string(out), err
}
