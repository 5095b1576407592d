package version_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestGenerations checks that code generated for this runtime compiles, and that the compiler's message for
// code of an earlier generation names RegenerateWithKubewright.
func TestGenerations(t *testing.T) {
	for name, want := range map[string]string{"Generation2": "", "Generation1": "RegenerateWithKubewright"} {
		files := token.NewFileSet()
		source := `package generated

import "github.com/kubewright/kubewright/runtime/version"

const _ = version.` + name
		file, err := parser.ParseFile(files, "generated.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
		_, err = config.Check("generated", files, []*ast.File{file}, nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want an error that names %s", name, err, want)
		}
	}
}
