// Package scratch makes modules for code that tests generate or copy and then compile. Each is in a folder of
// its own, see [Fixed], and has the requirements of a module of this repository.
package scratch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const own = "github.com/kubewright/kubewright"

// Module is a module in the folder Dir. The caller of New creates the folder and removes it.
type Module struct{ Dir string }

// New makes a module with a path of its own in the folder dir. It requires the repository as it is on the
// disk, and what the module in the folder like requires: the repository's module, or one that requires it.
func New(dir, path, like string) (*Module, error) {
	// With -mod=readonly, the go command doesn't change the go.mod that it reads.
	repository, err := (&Module{like}).Run("go", "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", own)
	if err != nil {
		return nil, err
	}
	m := &Module{dir}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(like, name))
		if err := errors.Join(err, m.Write(name, string(text))); err != nil {
			return nil, err
		}
	}
	edits, err := absolute(like)
	if err != nil {
		return nil, err
	}
	edits = append(edits, "-module="+path, "-require="+own+"@v0.0.0",
		"-replace="+own+"="+strings.TrimSpace(repository))
	_, err = m.Run("go", append([]string{"mod", "edit"}, edits...)...)
	return m, err
}

// absolute returns edits for the replacements in the go.mod of a folder: they make the paths of folders
// absolute.
func absolute(dir string) (edits []string, err error) {
	text, err := (&Module{dir}).Run("go", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(text), &mod); err != nil {
		return nil, err
	}
	for _, r := range mod.Replace {
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) {
			continue
		}
		folder, err := filepath.Abs(filepath.Join(dir, r.New.Path))
		if err != nil {
			return nil, err
		}
		edits = append(edits, "-replace="+r.Old.Path+"="+folder)
	}
	return edits, nil
}

// Write writes a file of the module, and creates its folders.
func (m *Module) Write(name, text string) error {
	file := filepath.Join(m.Dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
}

// Command returns a command that runs in the module. A go command, started directly or indirectly, may
// complete go.mod and go.sum, uses no workspace, and links without symbols, which takes less time.
func (m *Module) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.Dir
	cmd.Env = append(cmd.Environ(), "GOFLAGS=-mod=mod -ldflags=-s", "GOWORK=off")
	return cmd
}

// Run runs a command in the module and returns its standard output. Its error includes both standard output
// and standard error.
func (m *Module) Run(name string, args ...string) (string, error) {
	var stderr strings.Builder
	cmd := m.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, stderr.String(), out)
	}
	return string(out), err
}
