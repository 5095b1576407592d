package conformance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
)

const root = "../../.."

// testRef matches a test in the last column of a row: a package, a test, and a scenario or subtest of it, as
// go test's -run takes it.
var testRef = regexp.MustCompile("^`([a-z/]+)` (Test[A-Za-z0-9]+)(?:/(.+))?$")

// differences returns the tests that docs/differences.md names, each with its scenario, or "" if it names
// none.
func differences(t *testing.T) map[[3]string]bool {
	text, err := os.ReadFile(filepath.Join(root, "docs/differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	refs := map[[3]string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "What happens" {
			continue
		}
		for ref := range strings.SplitSeq(cells[len(cells)-1], "; ") {
			match := testRef.FindStringSubmatch(ref)
			if len(cells) != 5 || match == nil {
				t.Errorf("not a row: %s", line)
				continue
			}
			refs[[3]string{match[1], match[2], strings.ReplaceAll(match[3], "_", " ")}] = true
		}
	}
	return refs
}

// TestDifferencesHaveTests checks that each documented difference names a test that exists.
func TestDifferencesHaveTests(t *testing.T) {
	refs := differences(t)
	if len(refs) == 0 {
		t.Fatal("no differences were found")
	}
	for ref := range refs {
		files, err := filepath.Glob(filepath.Join(root, ref[0], "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source []byte
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		if !bytes.Contains(source, []byte("func "+ref[1]+"(")) {
			t.Errorf("%s has no %s", ref[0], ref[1])
		}
		if !bytes.Contains(source, []byte(`"`+ref[2]+`"`)) && ref[2] != "" {
			t.Errorf("%s of %s has no scenario %q", ref[1], ref[0], ref[2])
		}
	}
}

// TestNumberOfScenarios checks that there are enough scenarios, each with a name of its own and a guarantee.
func TestNumberOfScenarios(t *testing.T) {
	names := map[string]bool{}
	check := func(name string, g guarantee.Guarantee) {
		names[name] = true
		if g == "" {
			t.Errorf("%s: it has no guarantee", name)
		}
	}
	for _, s := range conformance.Scenarios {
		check(s.Name, s.Guarantee)
	}
	for _, s := range conformance.ToolScenarios {
		check(s.Name, s.Guarantee)
	}
	all := len(conformance.Scenarios) + len(conformance.ToolScenarios)
	t.Logf("%d scenarios of informers, %d of tools", len(conformance.Scenarios),
		len(conformance.ToolScenarios))
	if len(names) != all || all < 120 {
		t.Errorf("%d scenarios, %d names", all, len(names))
	}
}

// TestDifferencesAreListed checks that the document lists each scenario in which implementations differ.
func TestDifferencesAreListed(t *testing.T) {
	refs := differences(t)
	check := func(test, scenario, differs string) {
		listed := refs[[3]string{"runtime/internal/conformance", test, scenario}]
		if listed != (differs != "") {
			t.Errorf("%s: differs %q, listed %t", scenario, differs, listed)
		}
	}
	for _, s := range conformance.Scenarios {
		check("TestConformance", s.Name, s.Differs)
	}
	for _, s := range conformance.ToolScenarios {
		check("TestToolConformance", s.Name, s.Differs)
	}
}
