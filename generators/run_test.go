package generators_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubewright/kubewright/internal/scratch"
)

// TestGeneratedCode generates code for the API in each of testdata/run's archives, and runs the tests in the
// archive, which call the code. The comment of an archive has the command, in a line that begins with "$ ".
func TestGeneratedCode(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/run/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	bin := buildCommands(t)
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := scratch.FixedForTest(t)
			for _, f := range archive.Files {
				name := filepath.Join(dir, filepath.FromSlash(f.Name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := goInModule(dir, "list", "-m"); err != nil { // makes go.mod
				t.Fatal(err)
			}
			_, line, _ := strings.Cut(string(archive.Comment), "\n$ ")
			line, _, _ = strings.Cut(line, "\n")
			args := strings.Fields(line)
			generate := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
			generate.Dir = dir
			generate.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
			if out, err := generate.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := goInModule(dir, "test", "-count=1", "./..."); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
