package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestImport imports the manifests of golden cases, which have each shape of a schema. The types and the
// code generated from them have to compile. A second import must change nothing.
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
		args := []string{"import", name + "/crds", "--apis-dir", name + "/apis", "--output-dir", name + "/client",
			"--with-applyconfig"}
		r.run(".", kubewright, args...)
		r.run(".", kubewright, append(args, "--check")...)
	}
	r.run(".", "go", "build", "./...")
}

// TestImportReports checks that the report of an import has the types and what is generated from them, and
// that of a check that finds outdated types only these.
func TestImportReports(t *testing.T) {
	const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bakeries.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Bakery, plural: bakeries}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`
	r := newModule(t, ".")
	r.write("crd.yaml", definition)
	t.Chdir(r.dir)
	report := func(wantStatus int, args ...string) map[string]int {
		t.Helper()
		var stdout, stderr strings.Builder
		args = append([]string{"import", "--json", "crd.yaml"}, args...)
		if status := execute(t.Context(), args, &stdout, &stderr); status != wantStatus {
			t.Fatalf("%q: exit status %d: %s", args, status, &stderr)
		}
		var got struct {
			Command string
			Files   []fileReport
		}
		if err := json.Unmarshal([]byte(stdout.String()), &got); err != nil || got.Command != "import" {
			t.Fatalf("%q: %v, %s", args, err, &stdout)
		}
		states := map[string]int{}
		for _, f := range got.Files {
			top, _, _ := strings.Cut(filepath.ToSlash(f.Path), "/")
			states[top+" "+f.State]++
		}
		return states
	}
	if got := report(statusNotCurrent, "--check"); len(got) != 1 || got["apis outdated"] != 2 {
		t.Errorf("a check before the import: %v", got)
	}
	// Types, doc.go, deep copies and the registration, and clients.
	if got := report(0); len(got) != 2 || got["apis written"] != 4 || got["pkg written"] < 10 {
		t.Errorf("the import: %v", got)
	}
	if got := report(0, "--check"); len(got) != 2 || got["apis current"] != 4 || got["pkg current"] < 10 {
		t.Errorf("a check after the import: %v", got)
	}
}
