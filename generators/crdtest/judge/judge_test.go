package main

import (
	"testing"

	"github.com/kubewright/kubewright/generators"
)

// TestBroken compares crdcheck's verdict on 40 definitions that servers refuse with a server's.
func TestBroken(t *testing.T) {
	j, err := newJudge(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.server.Stop()
	const dir, packages = "../../../crdcheck", "./testdata/broken/..."
	t.Chdir(dir)
	definitions, problems, err := generators.Definitions(t.Context(), generators.Config{
		Inputs: []generators.Input{{Pattern: packages}}})
	if err != nil || problems.Fatal() {
		t.Fatal(err, problems)
	}
	v, err := j.compare(t.Context(), ".", []string{packages}, definitions)
	if err != nil {
		t.Fatal(err)
	}
	if v.definitions != 40 || v.refused != 40 || v.equal != 40 {
		t.Errorf("alike %d, refused %d, of %d definitions\n%s", v.equal, v.refused, v.definitions, v.text)
	}
}
