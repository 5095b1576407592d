package generators_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// scratchFolder has what tests share. It is removed at the end.
var scratchFolder string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubewright-generators")
	if err != nil {
		panic(err)
	}
	scratchFolder = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// commands builds the commands, and returns their folder.
var commands = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(scratchFolder, "bin")
	// Most of the time goes into linking, and nobody debugs these.
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin+string(filepath.Separator), "../cmd/...",
		"../internal/typecheck")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// buildCommands returns the folder of the commands, which the first call builds.
func buildCommands(t *testing.T) string {
	bin, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// goInModule runs a go command in the module in dir, makes the module require the repository as it is on the
// disk, and returns the command's output.
func goInModule(dir string, args ...string) (string, error) {
	m, err := scratch.New(dir, module, "..")
	if err != nil {
		return "", err
	}
	return m.Run("go", args...)
}
