package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClients checks that the code that upstream's generators and ours make from the same input with the same
// flags behaves the same. The example controller and its tests compile and pass on both, with changed import
// paths; clientsets send the same requests and return the same results; fakes record the same actions.
//
// The comparison runs in a scratch module, whose tests are reported as tests of this one.
func TestClients(t *testing.T) {
	s := newSandbox(t)
	for _, flavour := range []string{"upstream", "ours"} {
		s.generate(flavour)
		s.copyController(flavour)
	}
	s.MustRun(t, "go", "vet", "./...")
	s.test()
}

// test runs the tests of the scratch module and reports them.
func (s *sandbox) test() {
	s.t.Helper()
	results, err := s.Test("-count=1", "./...")
	for _, r := range results {
		s.t.Run(strings.TrimPrefix(r.Package, module+"/")+"/"+r.Test, func(t *testing.T) {
			t.Log(r.Output)
			if r.Action == "fail" {
				t.Fail()
			}
		})
	}
	if err != nil || len(results) == 0 {
		s.t.Errorf("%v; %d tests ran", err, len(results))
	}
}

// copyController copies the example controller and its test into the scratch module and points their imports
// at the code generated there.
func (s *sandbox) copyController(flavour string) {
	s.t.Helper()
	files, err := filepath.Glob("../../../examples/controller/bakery/*.go")
	if err != nil || len(files) == 0 {
		s.t.Fatalf("no Go files of the controller: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		s.MustWrite(s.t, filepath.Join(flavour, "controller", filepath.Base(file)), strings.ReplaceAll(string(text),
			`"github.com/kubewright/kubewright/examples/generated/`, `"`+module+"/"+flavour+"/",
		))
	}
}
