package facades

import (
	"path/filepath"
	"testing"
)

// TestProgram compiles client-go's example of a work queue after changing only an import path.
func TestProgram(t *testing.T) {
	s := newSandbox(t)
	program := replace(t, s.upstream("examples/workqueue/main.go"),
		edit{`"` + clientGo + `util/workqueue"`, `"` + kubewright + `runtime/workqueue"`})
	if err := s.Write("program/main.go", program); err != nil {
		t.Fatal(err)
	}
	s.run("vet", "./program")
	s.run("build", "-o", filepath.Join(t.TempDir(), "program"), "./program")
}
