package crds

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/pages"
)

// elsewhere are the commands in blocks of pages that no walk runs, and the test that runs each. Commands that
// call make aren't among them: Makefile has these.
var elsewhere = map[command]struct{ folder, test string }{
	{"docs/migration.md", "go install github.com/kubewright/kubewright/cmd/...@latest"}: {
		"internal/release", "TestRehearsal"},
	{"docs/migration.md", "kubewright move"}:           {"internal/move", "TestMove"},
	{"docs/migration.md", "kubewright move -w"}:        {"internal/move", "TestMove"},
	{"docs/migration.md", "kubewright move --back -w"}: {"internal/move", "TestMove"},
	// docs/testing.md has the same command in a section that is followed.
	{"README.md", "go mod edit -replace github.com/kubewright/kubewright=../kubewright " +
		"-require github.com/kubewright/kubewright@v0.0.0"}: {"generators/crdtest", "TestWalks"},
	// The last of the section "All of Kubernetes", two minutes of compiling.
	{firstAPI, "go vet ./..."}: {"test/e2e/kube", "TestKubernetesAPI"},
	{"docs/sharding.md", `python3 -c 'from functools import reduce; print("%016x" % ` +
		`reduce(lambda h, b: (h ^ b) * 0x100000001b3 % 2**64, b"rome", 0xcbf29ce484222325))'`}: {
		"sharding", "TestHashOnPage"},
}

type command struct{ page, text string }

// isElsewhere returns a function that reports whether a command of a page is in elsewhere, or needs a
// release. Releases are tested by TestRehearsal of internal/release; walks use the clone.
func isElsewhere(page string) func(string) bool {
	return func(text string) bool {
		_, found := elsewhere[command{page, text}]
		return found || strings.HasPrefix(text, "go get -tool github.com/kubewright/kubewright/cmd/kubewright")
	}
}

// TestCommands checks that each command in a block of a page is in a section that TestWalks follows, in the
// list above, or a target of Makefile; and that the commands and tests in the list exist.
func TestCommands(t *testing.T) {
	makefile := read(t, "Makefile")
	found, seen := 0, map[command]bool{}
	for _, p := range allPages(t) {
		for _, b := range p.Blocks() {
			followed := slices.ContainsFunc(walks, func(w walk) bool {
				return w.page == p.Name && w.section == b.Section
			})
			if b.IsScript() && !followed {
				t.Errorf("%s:%d: no test runs this script", p.Name, b.Line)
			}
			for _, text := range b.Commands() {
				found++
				c := command{p.Name, text}
				target, isMake := strings.CutPrefix(text, "make ")
				switch _, listed := elsewhere[c]; {
				case isMake:
					if !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
						t.Errorf("%s:%d: Makefile has no target %s", p.Name, b.Line, target)
					}
				case listed:
					seen[c] = true
				case !followed:
					t.Errorf("%s:%d: no test runs %q: add the section to walks, or the command to elsewhere",
						p.Name, b.Line, text)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
	for c, by := range elsewhere {
		if !seen[c] {
			t.Errorf("%s has no command %q any more", c.page, c.text)
		}
		tests, err := filepath.Glob(filepath.Join("../..", by.folder, "*_test.go"))
		if err != nil || !slices.ContainsFunc(tests, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), "\nfunc "+by.test+"(t *testing.T)")
		}) {
			t.Errorf("%q: %s has no %s, %v", c.text, by.folder, by.test, err)
		}
	}
}

func allPages(t *testing.T) []pages.Page {
	t.Helper()
	all, err := pages.Tracked("../..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
