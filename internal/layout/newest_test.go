package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewestMods checks that each newest.mod differs from the go.mod beside it only in versions of modules
// that both require.
func TestNewestMods(t *testing.T) {
	files, err := filepath.Glob("../../contrib/*/newest.mod")
	if err != nil || len(files) == 0 {
		t.Fatal("no newest.mod", err)
	}
	read := func(file string) []string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")
	}
	for _, file := range files {
		newest, oldest := read(file), read(filepath.Join(filepath.Dir(file), "go.mod"))
		if len(newest) != len(oldest) {
			t.Errorf("%s has %d lines, go.mod %d", file, len(newest), len(oldest))
			continue
		}
		differ := 0
		for i, line := range newest {
			a, b := strings.Fields(line), strings.Fields(oldest[i])
			switch {
			case line == oldest[i]:
			case len(a) < 2 || len(b) < 2 || a[0] != b[0]:
				t.Errorf("%s:%d: %q, go.mod has %q", file, i+1, line, oldest[i])
			default:
				differ++
			}
		}
		if differ == 0 {
			t.Errorf("%s is go.mod: delete it", file)
		}
	}
}

// TestControllerRuntime checks that kubewright names the versions of controller-runtime with which package
// kwctrl is tested.
func TestControllerRuntime(t *testing.T) {
	for mod, constant := range map[string]struct{ file, name string }{
		"go.mod":     {"fit.go", "oldestControllerRuntime"},
		"newest.mod": {"move.go", "movedControllerRuntime"},
	} {
		required, err := os.ReadFile("../../contrib/controller-runtime/" + mod)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile("../../cmd/kubewright/" + constant.file)
		if err != nil {
			t.Fatal(err)
		}
		_, version, found := strings.Cut(string(required), "\tsigs.k8s.io/controller-runtime ")
		version, _, _ = strings.Cut(version, "\n")
		want := constant.name + ` = "` + version + `"`
		if !found || !strings.Contains(string(source), want) {
			t.Errorf("%s requires %q, and %s lacks %s", mod, version, constant.file, want)
		}
	}
}
