package generators_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// TestDefaults generates functions that set the defaults of a type with fields of other packages' types, and
// runs a program that calls them.
func TestDefaults(t *testing.T) {
	dir := scratch.FixedForTest(t)
	for name, from := range map[string]string{
		"apis/batch/v1/doc.go": "types.go.txt",
		"main.go":              "main.go.txt",
	} {
		text, err := os.ReadFile(filepath.Join("testdata/defaults", from))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := goInModule(dir, "list", "-m"); err != nil { // makes go.mod
		t.Fatal(err)
	}
	generate := exec.Command(filepath.Join(buildCommands(t), "kubewright"), "generate", "./apis/...")
	generate.Dir = dir
	generate.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := goInModule(dir, "run", "."); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
