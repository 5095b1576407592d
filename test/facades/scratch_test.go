package facades

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// sandbox is a module with files of client-go that requires what this module requires.
type sandbox struct {
	*scratch.Module
	t *testing.T
	// clientGo is the folder of client-go's module.
	clientGo string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	m, err := scratch.New(t.TempDir(), "example.com/facades", ".")
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{Module: m, t: t}
	s.clientGo = strings.TrimSpace(s.run("list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(clientGo, "/")))
	return s
}

// add adds a file of client-go to a package, edited by pairs of old and new text. Each old text must occur
// exactly once.
func (s *sandbox) add(pkg, file string, edits ...string) {
	s.t.Helper()
	content, err := os.ReadFile(filepath.Join(s.clientGo, filepath.FromSlash(file)))
	if err != nil {
		s.t.Fatal(err)
	}
	text := string(content)
	for i := 0; i < len(edits); i += 2 {
		if n := strings.Count(text, edits[i]); n != 1 {
			s.t.Fatalf("%s has %q %d times", file, edits[i], n)
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	if err := s.Write(filepath.Join(pkg, filepath.Base(file)), text); err != nil {
		s.t.Fatal(err)
	}
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
