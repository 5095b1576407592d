package facades

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// mixed has the packages of the mixtures by name.
var mixed = map[string]string{
	"cache":            clientGo + "tools/cache",
	"informers":        clientGo + "informers",
	"metadatainformer": clientGo + "metadata/metadatainformer",
}

// mixtures has the types of client-go that a facade declares itself. Each has declarations that use a value
// of one package in place of the other's, in both directions. docs/differences.md has a row for each.
var mixtures = map[string][2]string{
	"cache.StoreOption": {
		"var _ = theirs.NewStore(nil, ours.WithTransformer(nil))",
		"var _ = ours.NewStore(nil, theirs.WithTransformer(nil))",
	},
	"cache.ThreadSafeStoreOption": {
		"var _ = theirs.NewThreadSafeStore(nil, nil, " +
			"ours.WithThreadSafeStoreMetrics(ours.InformerNameAndResource{}, nil))",
		"var _ = ours.NewThreadSafeStore(nil, nil, " +
			"theirs.WithThreadSafeStoreMetrics(ours.InformerNameAndResource{}, nil))",
	},
	"cache.DeltaFIFO": {
		"var _ *theirs.DeltaFIFO = ours.NewDeltaFIFO(nil, nil)",
		"var _ *ours.DeltaFIFO = theirs.NewDeltaFIFO(nil, nil)",
	},
	"informers.SharedInformerOption": {
		"var _ = theirs.NewSharedInformerFactoryWithOptions(nil, 0, ours.WithTransform(nil))",
		"var _ = ours.NewSharedInformerFactoryWithOptions(nil, 0, theirs.WithTransform(nil))",
	},
	"metadatainformer.SharedInformerOption": {
		"var _ = theirs.NewSharedInformerFactoryWithOptions(nil, 0, ours.WithTransform(nil))",
		"var _ = ours.NewSharedInformerFactoryWithOptions(nil, 0, theirs.WithTransform(nil))",
	},
}

// TestMixtures tries to compile files that import both packages. If a type is identical in both, each package
// accepts the other's values; if the facade declares a type of its own, neither does.
func TestMixtures(t *testing.T) {
	for qualified, declarations := range mixtures {
		t.Run(qualified, func(t *testing.T) {
			pkg, name, _ := strings.Cut(qualified, ".")
			compile := compiler(t, mixed[pkg], name)
			for _, declaration := range declarations {
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
	compile := compiler(t, clientGo+"tools/cache", "Heap")
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

// compiler returns a function that compiles a declaration, in a file that imports a package of client-go as
// theirs, and its facade as ours. Both have a type of the given name.
func compiler(t *testing.T, path, name string) func(declaration string) error {
	original, facade := load(t, path, facades[path])
	return func(declaration string) error {
		fset := token.NewFileSet()
		source := "package p\nimport (\nours \"" + facade.Path() + "\"\ntheirs \"" + original.Path() +
			"\"\n)\nvar _, _ = new(ours." + name + "), new(theirs." + name + ")\n" + declaration
		file, err := parser.ParseFile(fset, "p.go", source, 0)
		if err != nil {
			t.Fatal(err)
		}
		config := types.Config{Importer: importer{original.Path(): original, facade.Path(): facade}}
		_, err = config.Check("p", fset, []*ast.File{file}, nil)
		return err
	}
}

// importer resolves imports from loaded packages.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) { return i[path], nil }
