package facades

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// mixtures are declarations with a value of one package in place of the other's, in both directions, of types
// that the facade declares itself.
var mixtures = map[string][2]string{
	"StoreOption": {
		"var _ = theirs.NewStore(nil, ours.WithTransformer(nil))",
		"var _ = ours.NewStore(nil, theirs.WithTransformer(nil))",
	},
	"ThreadSafeStoreOption": {
		"var _ = theirs.NewThreadSafeStore(nil, nil, " +
			"ours.WithThreadSafeStoreMetrics(ours.InformerNameAndResource{}, nil))",
		"var _ = ours.NewThreadSafeStore(nil, nil, " +
			"theirs.WithThreadSafeStoreMetrics(ours.InformerNameAndResource{}, nil))",
	},
	"DeltaFIFO": {
		"var _ *theirs.DeltaFIFO = ours.NewDeltaFIFO(nil, nil)",
		"var _ *ours.DeltaFIFO = theirs.NewDeltaFIFO(nil, nil)",
	},
}

// TestMixtures tries to compile files that import both packages. If a type is identical in both, each package
// accepts the other's values; if the facade declares a type of its own, neither does.
func TestMixtures(t *testing.T) {
	original, facade := load(t, clientGo+"tools/cache", kubewright+"cache")
	compile := func(declaration string) error {
		fset := token.NewFileSet()
		source := "package p\nimport (\nours \"" + facade.Path() + "\"\ntheirs \"" +
			original.Path() + "\"\n)\n" +
			"var _, _ = ours.IsDone, theirs.IsDone\n" + declaration
		file, err := parser.ParseFile(fset, "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{Importer: importer{original.Path(): original, facade.Path(): facade}}
		_, err = config.Check("p", fset, []*ast.File{file}, nil)
		return err
	}
	for name := range own {
		t.Run(name, func(t *testing.T) {
			for _, declaration := range mixtures[name] {
				pure := strings.ReplaceAll(declaration, "theirs.", "ours.")
				if err := compile(pure); err != nil {
					t.Errorf("%s: %v", pure, err)
				}
				if err := compile(declaration); err == nil || !strings.Contains(err.Error(), "cannot use") {
					t.Errorf("%s: compiles, or fails otherwise: %v", declaration, err)
				}
			}
		})
	}
	for _, declaration := range []string{
		"var _ *theirs.Heap = ours.NewHeap(nil, nil)",
		"var _ *ours.FIFO = theirs.NewFIFO(nil)",
		"var _ *theirs.RealFIFO = ours.NewRealFIFOWithOptions(theirs.RealFIFOOptions{})",
		"var _ *theirs.Reflector = ours.NewReflector(nil, nil, theirs.NewFIFO(nil), 0)",
		"var _ = ours.NewThreadSafeStore(nil, theirs.Indices{})",
		"var _ = theirs.NewNamedReflector(\"\", nil, nil, ours.NewDeltaFIFO(nil, nil), 0)",
		"var _ theirs.Indexer = ours.NewIndexer(nil, theirs.Indexers{})",
	} {
		if err := compile(declaration); err != nil {
			t.Errorf("%s: %v", declaration, err)
		}
	}
}

// importer resolves imports from loaded packages.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) { return i[path], nil }
