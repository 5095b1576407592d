package dropin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDropIn checks that the code which upstream's generators and ours make from the same input with the same
// flags does the same. The example controller and its tests compile and pass on both, with changed import
// paths; clientsets send the same requests and return the same; fakes record the same actions.
//
// The comparison runs in a scratch module, whose tests are reported as tests of this one.
func TestDropIn(t *testing.T) {
	s := newSandbox(t)
	for _, flavour := range []string{"upstream", "ours"} {
		s.generate(flavour)
		s.copyController(flavour)
	}
	s.run("go", "vet", "./...")
	s.test()
}

// test runs the tests of the scratch module and reports them.
func (s *sandbox) test() {
	s.t.Helper()
	output, err := s.Command("go", "test", "-json", "./...").Output()
	type event struct{ Action, Package, Test, Output string }
	outputs := map[[2]string]*strings.Builder{}
	passed := 0
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			s.t.Log(lines.Text())
			continue
		}
		key := [2]string{e.Package, e.Test}
		if outputs[key] == nil {
			outputs[key] = &strings.Builder{}
		}
		outputs[key].WriteString(e.Output)
		if e.Action != "pass" && e.Action != "fail" || e.Test == "" && e.Action == "pass" {
			continue
		}
		s.t.Run(strings.TrimPrefix(e.Package, module+"/")+"/"+e.Test, func(t *testing.T) {
			t.Log(outputs[key])
			if e.Action == "fail" {
				t.Fail()
			}
		})
		passed++
	}
	if err != nil || passed == 0 {
		s.t.Errorf("%v; %d tests ran", err, passed)
	}
}

// copyController copies the example controller and its test into the scratch module and points their imports
// at the code generated there.
func (s *sandbox) copyController(flavour string) {
	s.t.Helper()
	files, err := filepath.Glob("../../examples/controller/bakery/*.go")
	if err != nil || len(files) == 0 {
		s.t.Fatalf("no Go files of the controller: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			s.t.Fatal(err)
		}
		s.write(filepath.Join(flavour, "controller", filepath.Base(file)), strings.ReplaceAll(string(text),
			`"github.com/kubewright/kubewright/examples/generated/`, `"`+module+"/"+flavour+"/",
		))
	}
}
