package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestImport imports the manifests of golden cases, which have each shape of a schema, and generates from the
// types. All of it compiles. A second import changes nothing.
func TestImport(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles types and clients")
	}
	r := newModule(t, ".")
	kubewright := build(t)
	for _, name := range []string{"import", "import-groups", "import-names", "import-well-known"} {
		archive, err := txtar.ParseFile(filepath.Join("../../generators/testdata", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				r.write(filepath.Join(name, "crds", f.Name), string(f.Data))
			}
		}
		r.run(name, kubewright, "import", "crds")
		generate := []string{"./" + name + "/apis/...", "--output-dir", name + "/client", "--with-applyconfig"}
		r.run(".", kubewright, append([]string{"generate"}, generate...)...)
		r.run(name, kubewright, "import", "crds")
		r.run(".", kubewright, append([]string{"check"}, generate...)...)
	}
	r.run(".", "go", "build", "./...")
}
