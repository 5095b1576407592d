package generators

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeepCopiesOfKubernetes checks that the deep copies of k8s.io/api and apimachinery, as released, are
// what deepcopy-gen writes, byte for byte. make parity compares more of them with upstream's own output.
func TestDeepCopiesOfKubernetes(t *testing.T) {
	for pattern, files := range map[string]int{"k8s.io/api/...": 60, "k8s.io/apimachinery/pkg/...": 13} {
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/api/core/v1").Output()
		if err != nil {
			t.Fatal(err)
		}
		released, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "zz_generated.deepcopy.go"))
		if err != nil {
			t.Fatal(err)
		}
		license := string(released)[strings.Index(string(released), "/*") : strings.Index(string(released), "*/")+2]
		header := filepath.Join(t.TempDir(), "header.txt")
		if err := os.WriteFile(header, []byte(license+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		changes, problems, err := Plan(context.Background(), Config{
			Inputs: packageInputs([]string{pattern}), HeaderFile: header,
			DeepCopy: &DeepCopyOptions{File: "zz_generated.deepcopy.go"},
		})
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", pattern, err, problems)
		}
		if len(changes.Changed) > 0 || changes.Unchanged != files {
			t.Errorf("%s: %d files of %d are as released; others are %v", pattern, changes.Unchanged, files,
				changes.Changed)
		}
	}
}
