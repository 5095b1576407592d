package model

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTypedPackage checks that the package typed is that of a module's apimachinery, also for a folder that
// doesn't exist yet.
func TestTypedPackage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/x\n\ngo 1.26.0\n\nrequire k8s.io/apimachinery v0.99.0\n\n" +
			"replace k8s.io/apimachinery => ./apimachinery\n",
		"apimachinery/go.mod":                      "module k8s.io/apimachinery\n\ngo 1.26.0\n",
		"apimachinery/pkg/util/managedfields/a.go": "package managedfields\n\nimport _ \"fmt\"\n",
		"apimachinery/pkg/util/managedfields/b.go": "package managedfields\n\n" +
			"import _ \"sigs.k8s.io/structured-merge-diff/v99/typed\"\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const want = "sigs.k8s.io/structured-merge-diff/v99/typed"
	for _, folder := range []string{".", "not/yet"} {
		if got := TypedPackage(t.Context(), filepath.Join(dir, folder)); got != want {
			t.Errorf("in %s it is %s", folder, got)
		}
	}
	const standard = "sigs.k8s.io/structured-merge-diff/v6/typed"
	if got := TypedPackage(t.Context(), t.TempDir()); got != standard {
		t.Errorf("without apimachinery it is %s", got)
	}
}
