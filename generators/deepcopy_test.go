package generators

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const deepCopies = "zz_generated.deepcopy.go"

// TestDeepCopiesOfKubernetes checks that the deep copies of k8s.io/api and apimachinery, as released, are
// what deepcopy-gen writes, byte for byte. make parity compares more of them with upstream's own output.
func TestDeepCopiesOfKubernetes(t *testing.T) {
	for pattern, least := range map[string]int{"k8s.io/api/...": 50, "k8s.io/apimachinery/pkg/...": 10} {
		files := released(t, pattern)
		if files < least {
			t.Errorf("%s: only %d files were released", pattern, files)
		}
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/api/core/v1").Output()
		if err != nil {
			t.Fatal(err)
		}
		core, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), deepCopies))
		if err != nil {
			t.Fatal(err)
		}
		license := string(core)[strings.Index(string(core), "/*") : strings.Index(string(core), "*/")+2]
		header := filepath.Join(t.TempDir(), "header.txt")
		if err := os.WriteFile(header, []byte(license+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		changes, problems, err := Plan(context.Background(), Config{
			Inputs: packageInputs([]string{pattern}), HeaderFile: header,
			DeepCopy: &DeepCopyOptions{File: deepCopies},
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

// released returns how many of the packages were released with deep copies.
func released(t *testing.T, pattern string) (files int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-e", "-f", "{{.Dir}}", pattern).Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.Lines(string(out)) {
		if _, err := os.Stat(filepath.Join(strings.TrimSpace(dir), deepCopies)); err == nil {
			files++
		}
	}
	return files
}
