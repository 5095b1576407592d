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
	s.MustWrite(t, "program/main.go", program)
	s.MustRun(t, "go", "vet", "./program")
	s.MustRun(t, "go", "build", "-o", filepath.Join(t.TempDir(), "program"), "./program")
}
