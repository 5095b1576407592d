package scratch

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// Result is the result of a test, or of a package that failed, for which Test is empty.
type Result struct {
	Package, Test string
	// Action is pass, fail or skip.
	Action string
	// Output is what the test printed.
	Output string
}

// Test runs go test in the module with the given arguments and returns the results of all tests, and of the
// packages that failed. The error is that of the command, which fails if a test does; it includes the
// compiler's messages.
func (m *Module) Test(args ...string) ([]Result, error) {
	return RunTests(m.Command("go", append([]string{"test", "-json"}, args...)...))
}

// RunTests runs a command that runs go test -json, and returns what Test does.
func RunTests(cmd *exec.Cmd) ([]Result, error) {
	var others, stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var results []Result
	outputs := map[[2]string]*strings.Builder{}
	for line := range strings.Lines(string(out)) {
		var e Result
		if json.Unmarshal([]byte(line), &e) != nil {
			others.WriteString(line)
			continue
		}
		key := [2]string{e.Package, e.Test}
		if outputs[key] == nil {
			outputs[key] = &strings.Builder{}
		}
		switch e.Action {
		case "output":
			outputs[key].WriteString(e.Output)
		case "build-output":
			others.WriteString(e.Output)
		case "pass", "fail", "skip":
			if e.Test != "" || e.Action == "fail" {
				e.Output = outputs[key].String()
				results = append(results, e)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("go test: %w\n%s%s", err, others.String(), stderr.String())
	}
	return results, err
}
