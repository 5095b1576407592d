package facades

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scratch is a module of client-go's files, that requires what this one does.
type scratch struct {
	t   *testing.T
	dir string
	// clientGo is the folder of client-go's module.
	clientGo string
}

func newScratch(t *testing.T) *scratch {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	repository := filepath.Dir(filepath.Dir(here))
	s := &scratch{t: t, dir: t.TempDir()}
	s.copy("go.mod", filepath.Join(here, "go.mod"), "=> ../..", "=> "+repository)
	s.copy("go.sum", filepath.Join(here, "go.sum"))
	s.clientGo = strings.TrimSpace(s.run("list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(clientGo, "/")))
	return s
}

// add adds a file of client-go's to a package, see copy.
func (s *scratch) add(pkg, file string, edits ...string) {
	s.t.Helper()
	from := filepath.Join(s.clientGo, filepath.FromSlash(file))
	s.copy(filepath.Join(pkg, filepath.Base(file)), from, edits...)
}

// copy copies a file, edited by pairs of old and new text. Each old text must
// be there once.
func (s *scratch) copy(to, from string, edits ...string) {
	s.t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		s.t.Fatal(err)
	}
	text := string(content)
	for i := 0; i < len(edits); i += 2 {
		if n := strings.Count(text, edits[i]); n != 1 {
			s.t.Fatalf("%s has %q %d times", from, edits[i], n)
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	to = filepath.Join(s.dir, to)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// run runs a go command, fails the test with it, and returns its output.
func (s *scratch) run(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "go", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}
