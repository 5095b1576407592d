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
	m := scratch.ForTest(t, sandboxPath, "..")
	dir := m.MustRun(t, "go", "list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(clientGo, "/"))
	return &sandbox{m, t, strings.TrimSpace(dir)}
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
