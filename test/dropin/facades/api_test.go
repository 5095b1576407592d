package facades

import (
	"errors"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

const (
	clientGo   = "k8s.io/client-go/"
	kubewright = "github.com/kubewright/kubewright/"
)

// facades maps client-go's packages to ours.
var facades = map[string]string{
	clientGo + "tools/cache":               kubewright + "runtime/cache",
	clientGo + "tools/cache/synctrack":     kubewright + "runtime/cache/synctrack",
	clientGo + "util/workqueue":            kubewright + "runtime/workqueue",
	clientGo + "informers":                 kubewright + "informers",
	clientGo + "dynamic/dynamicinformer":   kubewright + "informers/dynamicinformer",
	clientGo + "metadata/metadatainformer": kubewright + "informers/metadatainformer",
}

// TestAPI compares each facade with its original by golang.org/x/exp/apidiff, as if the facade were the next
// version of the original. docs/additions.md lists what the facade adds.
func TestAPI(t *testing.T) {
	documented, err := os.ReadFile("../../../docs/additions.md")
	if err != nil {
		t.Fatal(err)
	}
	for path, facadePath := range facades {
		t.Run(facadePath, func(t *testing.T) {
			original, facade := load(t, path, facadePath)
			additions := 0
			for _, change := range apidiff.Changes(original, facade).Changes {
				if !ast.IsExported(strings.TrimLeft(change.Message, "(*")) {
					continue // a method of an unexported type that an option changes, or of one that a type embeds
				}
				if !change.Compatible {
					t.Error(change.Message)
					continue
				}
				additions++
				if name, _, _ := strings.Cut(
					change.Message, ":",
				); !strings.Contains(string(documented), "`"+name+"`") {
					t.Errorf("%s: not in docs/additions.md", change.Message)
				}
			}
			names := 0
			for _, name := range original.Scope().Names() {
				object := original.Scope().Lookup(name)
				if !object.Exported() {
					continue
				}
				names++
				if _, isType := object.(*types.TypeName); !isType {
					continue
				}
				// apidiff accepts a type with the same methods and fields, but the facade's must be identical.
				_, own := mixtures[original.Name()+"."+name]
				same := types.IsInterface(object.Type()) || path != clientGo+"util/workqueue" && !own
				if ours := facade.Scope().Lookup(name); ours != nil && same && packageOf(ours) != path {
					t.Errorf("%s is not client-go's type", name)
				}
			}
			t.Logf("%d exported names in client-go's package, %d additions", names, additions)
			if names < 5 {
				t.Error("there must be more names")
			}
		})
	}
}

// packageOf returns the package that declares the type that object names.
func packageOf(object types.Object) string {
	if named, ok := types.Unalias(object.Type()).(*types.Named); ok && named.Obj().Pkg() != nil {
		return named.Obj().Pkg().Path()
	}
	return ""
}

func load(t *testing.T, original, facade string) (*types.Package, *types.Package) {
	t.Helper()
	byPath, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return byPath[original], byPath[facade]
}

// loaded returns the types of all facades and their originals, by path.
var loaded = sync.OnceValues(func() (map[string]*types.Package, error) {
	paths := slices.Concat(slices.Collect(maps.Keys(facades)), slices.Collect(maps.Values(facades)))
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps |
			packages.NeedExportFile,
	}, paths...)
	byPath := map[string]*types.Package{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		byPath[p.PkgPath] = p.Types
	}
	return byPath, err
})
