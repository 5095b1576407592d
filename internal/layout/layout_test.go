// Package layout checks the project's rules: which of its packages may import which, directly and indirectly,
// how much they may export, and how long their files may be. What programs with generated code link is tested
// in generators/linked_test.go.
package layout

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubewright/kubewright"

// pkg is the part of `go list -json` that the tests read.
type pkg struct {
	ImportPath, Name, Dir string
	Imports, Deps         []string
	XTestGoFiles          []string
}

// allowed lists which packages of the project each package may import directly. A pattern that ends in /...
// includes what lies below it. The first row that matches counts, so special cases come before general ones.
// A package that no row matches may import no package of the project.
var allowed = []struct {
	pkg     string
	imports []string
}{
	{"cmd/kubewright", []string{"generators", "internal/move"}},
	{"cmd/...", []string{"generators"}},
	{"generators", []string{
		"generators/internal/marker", "generators/internal/model", "generators/internal/render",
		"generators/internal/schema", "generators/internal/crd", "generators/internal/output", "templates",
	}},
	{"generators/internal/model", []string{"generators/internal/marker"}},
	{"generators/internal/marker", nil},
	{"generators/internal/render", nil},
	{"generators/internal/schema", nil},
	{"generators/internal/crd", []string{
		"generators/internal/marker", "generators/internal/model", "generators/internal/render",
	}},
	{"generators/internal/output", nil},
	{"templates", nil},

	{"runtime/version", nil},
	{"runtime/gen/view", nil},
	{"runtime/gen/internal/pointee", nil},
	{"runtime/internal/store", []string{"runtime/lister"}},
	{"runtime/internal/deltafifo", nil},
	{"runtime/internal/decode", nil},
	{"internal/clientgo", nil},
	{"runtime/internal/unwrap", []string{"internal/clientgo"}},
	{"runtime/internal/metrics", nil},
	{"runtime/internal/sources", nil},
	{"runtime/internal/indexer", []string{"runtime/internal/store", "runtime/lister"}},
	{"runtime/internal/transforms", []string{"runtime/internal/store"}},
	{"runtime/internal/transport", nil},
	{"runtime/internal/limits", []string{"runtime/internal/sources"}},
	{"runtime/internal/observe", nil},
	// Whether a kind is served is decided without a request, and without an informer.
	{"runtime/internal/served", nil},
	{"runtime/internal/definitions", []string{
		"runtime/internal/served", "runtime/internal/reflector", "runtime/internal/sources",
		"runtime/internal/clientsource", "runtime/listwatch",
	}},
	{"runtime/internal/definitions/definitionstest", nil},
	{"runtime/optional", []string{
		"runtime/internal/definitions", "runtime/internal/served", "runtime/informer",
	}},
	// The source's package imports this one, not the reverse.
	{"runtime/listwatch", []string{"runtime/internal/transport", "runtime/internal/limits"}},
	{"runtime/internal/clientsource", []string{
		"internal/clientgo", "runtime/internal/decode", "runtime/internal/sources",
		"runtime/internal/transport", "runtime/internal/limits", "runtime/internal/observe",
		"runtime/listwatch", "runtime/gen/client",
	}},
	{"eyes", []string{"runtime/factory", "runtime/informer", "runtime/listwatch", "runtime/queue"}},
	{"runtime/queue", nil},
	{"runtime/shard", nil},
	// Packages for people find what they work with by interfaces, and don't import what is for generated code.
	// The exceptions make a client, an informer or a factory for which nothing was generated.
	{"runtime/client", []string{"runtime/gen/client"}},
	{"runtime/factory", []string{
		"runtime/gen/factory", "runtime/gen/lister", "runtime/informer", "runtime/listwatch",
		"runtime/internal/unwrap",
	}},
	{"runtime/lister", nil},
	{"runtime/gen/client", []string{"runtime/gen/internal/pointee"}},
	{"runtime/gen/fake", []string{"runtime/gen/client", "runtime/gen/internal/pointee"}},
	{"runtime/gen/apply", nil},
	{"runtime/gen/applyschema", nil},
	{"runtime/internal/reflector", []string{"runtime/internal/sources"}},
	{"runtime/gen/lister", []string{"runtime/lister", "runtime/internal/store"}},
	// The engine imports this package, not the reverse.
	{"runtime/informer", []string{
		"internal/clientgo",
		"runtime/listwatch", "runtime/internal/served",
		"runtime/internal/unwrap", "runtime/internal/metrics",
	}},
	{"runtime/internal/engine", []string{
		"runtime/informer", "runtime/internal/served", "runtime/listwatch", "runtime/gen/client",
		"runtime/internal/reflector",
		"runtime/internal/decode", "runtime/internal/sources", "runtime/internal/deltafifo",
		"runtime/internal/store", "runtime/internal/indexer", "runtime/internal/transforms",
		"runtime/internal/unwrap", "runtime/internal/metrics", "runtime/internal/observe",
	}},
	{"runtime/gen/informer", []string{
		"runtime/internal/clientsource", "runtime/internal/engine", "runtime/internal/indexer",
		"runtime/internal/sources",
	}},
	{"runtime/gen/factory", []string{
		"runtime/informer", "runtime/gen/informer", "runtime/gen/lister", "runtime/listwatch",
		"runtime/internal/unwrap",
	}},
	// Nothing else below runtime imports it.
	{"runtime/shard/partial/...", []string{
		"runtime/shard", "runtime/informer", "runtime/shard/partial/internal/feeds",
		"runtime/internal/engine", "runtime/internal/reflector", "runtime/internal/sources",
		"runtime/internal/transforms", "runtime/internal/unwrap",
	}},
	{"runtime/factory/namespaces", []string{"runtime/informer", "runtime/internal/unwrap"}},
	// It finds the caches that it observes by an interface, and no other package imports it.
	{"runtime/ownwrites", []string{
		"runtime/informer", "runtime/queue", "runtime/internal/observe", "runtime/internal/unwrap",
	}},
	{"runtime/cache/...", []string{"runtime/..."}},
	{"runtime/workqueue/...", []string{"runtime/..."}},
	{"runtime/runtimetest", []string{"runtime/shard"}},
	{"runtime/internal/conformance", []string{"runtime/...", "internal/bubble", "internal/guarantee"}},

	{"informers", []string{
		"internal/clientgo", "runtime/gen/informer", "runtime/gen/factory", "runtime/gen/client",
	}},
	{"informers/...", []string{
		"informers/internal/resources", "runtime/gen/informer", "runtime/gen/factory",
	}},

	{"sharding", []string{"runtime/shard", "runtime/shard/partial", "sharding/internal/steer"}},
	{"sharding/shardingtest", []string{
		"sharding", "sharding/internal/steer", "sharding/internal/leaseserver", "runtime/shard",
	}},
	{"sharding/shardingeyes", []string{"sharding", "eyes"}},
	{"sharding/internal/steer", []string{"runtime/shard"}},
	{"sharding/internal/leaseserver", []string{"runtime/runtimetest"}},

	{"examples/apis/...", []string{"examples/apis/..."}},
	{"examples/generated/...", []string{
		"examples/apis/...", "examples/generated/...",
		"runtime/version", "runtime/gen/client", "runtime/gen/apply", "runtime/gen/applyschema",
		"runtime/gen/fake", "runtime/gen/lister",
		"runtime/gen/view", "runtime/gen/informer", "runtime/gen/factory",
	}},
	// The compiler keeps them out of runtime/internal.
	{"examples/...", []string{"examples/...", "runtime/...", "sharding"}},
}

// notBelowRuntime are the packages of client-go that depend on its built-in clientset or its generated code.
// client-go itself can be generated on top of this runtime, so nothing under runtime/ may depend on them,
// even indirectly.
var notBelowRuntime = []string{
	"k8s.io/client-go/kubernetes/...", "k8s.io/client-go/informers/...", "k8s.io/client-go/listers/...",
	"k8s.io/client-go/applyconfigurations/...", "k8s.io/client-go/gentype/...",
	"k8s.io/client-go/discovery/...", "k8s.io/client-go/restmapper/...", "k8s.io/client-go/scale/...",
	"k8s.io/client-go/tools/leaderelection/...", "k8s.io/client-go/tools/events/...",
	"k8s.io/client-go/tools/record/...", "k8s.io/client-go/tools/watch/...",
	"k8s.io/client-go/dynamic/dynamicinformer/...", "k8s.io/client-go/metadata/metadatainformer/...",
}

// withoutCaches are the packages that programs with clients but without informers link. They don't depend on
// clientGoCache, which is more code than all of ours that such a program links.
var withoutCaches = []string{
	"runtime/client", "runtime/gen/client", "runtime/gen/fake", "runtime/gen/apply",
}

const clientGoCache = "k8s.io/client-go/tools/cache"

// generatedMayImport are the packages of apimachinery and client-go that generated code may import. Each
// import freezes the API that generated code uses.
var generatedMayImport = []string{
	"k8s.io/apimachinery/...", "k8s.io/api/...",
	"k8s.io/client-go/discovery/...", "k8s.io/client-go/metadata", "k8s.io/client-go/rest",
	"k8s.io/client-go/testing", "k8s.io/client-go/tools/cache", "k8s.io/client-go/util/flowcontrol",
	"k8s.io/client-go/applyconfigurations/...",
}

func TestImports(t *testing.T) {
	pkgs := list(t, ".", "./...")
	if len(pkgs) < 20 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasPrefix(name, "internal/") && name != "internal/clientgo" {
			continue
		}
		may := mayImport(name)
		for _, imp := range p.Imports {
			if rest, ours := strings.CutPrefix(imp, module+"/"); ours && !matchesAny(may, rest) {
				t.Errorf("%s imports %s: it may import %v of this project", name, rest, may)
			}
		}
		if matches("examples/generated/...", name) {
			for _, imp := range p.Imports {
				foreign := strings.Contains(strings.Split(imp, "/")[0], ".") &&
					!strings.HasPrefix(imp, module+"/")
				if foreign && !matchesAny(generatedMayImport, imp) {
					t.Errorf(
						"generated package %s imports %s, which is not on the list of what generated code "+
							"may import", name, imp)
				}
			}
		}
		if matches("runtime/...", name) {
			for _, dep := range p.Deps {
				if matchesAny(notBelowRuntime, dep) {
					t.Errorf("%s reaches %s", name, dep)
				}
			}
		}
		if matchesAny(withoutCaches, name) && slices.Contains(p.Deps, clientGoCache) {
			t.Errorf("%s reaches %s, so that each program with a client would link it", name, clientGoCache)
		}
		if matches("generators/...", name) || matches("cmd/...", name) {
			for _, dep := range p.Deps {
				if strings.HasPrefix(dep, module+"/runtime/") {
					t.Errorf("%s reaches %s: generators and runtime never import each other", name, dep)
				}
			}
		}
	}
}

// TestDiskAndTools checks that markers and rendering don't use the disk, that rendering doesn't import
// Kubernetes, and that only model imports x/tools and gengo's namers.
func TestDiskAndTools(t *testing.T) {
	for _, p := range list(t, ".", "./generators/...", "./templates/...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, imp := range p.Imports {
			switch {
			case (imp == "os" || imp == "io/ioutil") &&
				(name == "generators/internal/render" || name == "generators/internal/marker"):
				t.Errorf("%s imports %s: it must work in memory", name, imp)
			case (strings.HasPrefix(imp, "golang.org/x/tools/") ||
				strings.HasPrefix(imp, "k8s.io/gengo/v2/namer")) && name != "generators/internal/model":
				t.Errorf("%s imports %s: only generators/internal/model may", name, imp)
			case strings.HasPrefix(imp, "k8s.io/") && name == "generators/internal/render":
				t.Errorf("%s imports %s: it must not depend on Kubernetes", name, imp)
			}
		}
	}
}

func mayImport(name string) []string {
	for _, row := range allowed {
		if matches(row.pkg, name) {
			return row.imports
		}
	}
	return nil
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

func matches(pattern, name string) bool {
	base, deep := strings.CutSuffix(pattern, "/...")
	return name == base || deep && strings.HasPrefix(name, base+"/")
}

// listed has what list has returned, by folder and patterns.
var listed = map[string][]pkg{}

// list lists packages of the module in a folder of the repository.
func list(t *testing.T, folder string, patterns ...string) []pkg {
	t.Helper()
	key := strings.Join(append([]string{folder}, patterns...), " ")
	if pkgs, ok := listed[key]; ok {
		return pkgs
	}
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Dir,Imports,Deps,XTestGoFiles"},
		patterns...)...)
	cmd.Dir = path.Join("..", "..", folder)
	out, err := cmd.Output()
	if err != nil {
		if ee, ok := err.(*exec.ExitError); ok {
			t.Fatalf("go list: %v\n%s", err, ee.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	listed[key] = pkgs
	return pkgs
}
