package facades

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// sandboxPath is the path of the sandbox's module.
const sandboxPath = "example.com/facades"

// sandbox is a module with files of client-go that requires what this module requires.
type sandbox struct {
	*scratch.Module
	t *testing.T
	// clientGo is the folder of client-go's module.
	clientGo string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	m, err := scratch.New(t.TempDir(), sandboxPath, ".")
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{Module: m, t: t}
	s.clientGo = strings.TrimSpace(s.run("list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(clientGo, "/")))
	return s
}

// upstream returns the text of a file of client-go.
func (s *sandbox) upstream(file string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.clientGo, filepath.FromSlash(file)))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// run runs a go command, fails the test if it fails, and returns its output.
func (s *sandbox) run(args ...string) string {
	s.t.Helper()
	output, err := s.Run("go", args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return output
}
