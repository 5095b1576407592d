package generators

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
	"github.com/kubewright/kubewright/templates"
)

// everything returns a configuration of all generators with all options that add output.
func everything() Config {
	const pkg = "example.com/client/"
	return Config{
		PluralExceptions: []string{"Endpoints:Endpoints"},
		Client: &ClientOptions{
			Dir: "clientset/versioned", Package: pkg + "clientset/versioned", APIPath: "/apis", Fake: true,
			ApplyConfigurationPackage: pkg + "applyconfigurations", PrefersProtobuf: true,
		},
		Lister: &ListerOptions{Dir: "listers", Package: pkg + "listers", ReadOnlyViews: true},
		Informer: &InformerOptions{
			Dir: "informers", Package: pkg + "informers",
			VersionedClientset: pkg + "clientset/versioned", Listers: pkg + "listers", Metadata: true,
		},
		Apply:     &ApplyOptions{Dir: "applyconfigurations", Package: pkg + "applyconfigurations"},
		DeepCopy:  &DeepCopyOptions{File: "zz_generated.deepcopy.go"},
		Register:  &RegisterOptions{File: "zz_generated.register.go"},
		Defaulter: &DefaulterOptions{File: "zz_generated.defaults.go"},
	}
}

type order bool

const ascending, descending order = true, false

// kubernetes loads all of k8s.io/api, with the packages given in that order.
func kubernetes(t testing.TB, o order) *model.API {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}", "k8s.io/api/...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cfg := everything()
	paths := strings.Fields(string(out))
	if o == descending {
		slices.Reverse(paths)
	}
	cfg.Inputs = packageInputs(paths)
	load, err := cfg.model()
	if err != nil {
		t.Fatal(err)
	}
	api, problems := model.Load(context.Background(), load)
	if problems.Fatal() {
		t.Fatal(problems)
	}
	// All of these packages have a register.go, and none has functions that set defaults.
	shop := func(file string) model.HelperPackage {
		return model.HelperPackage{Path: "example.com/shop/v1", Name: "v1", Dir: "shop", File: file}
	}
	api.Registrations = append(api.Registrations, &model.Registration{
		HelperPackage: shop("register.go"),
		Group:         "shop.example.com", Version: "v1", Types: []string{"Bakery", "BakeryList"},
	})
	api.Defaults = append(api.Defaults, &model.DefaultsPackage{HelperPackage: shop("defaults.go")})
	return api
}

func filesOf(t testing.TB, cfg Config, api *model.API) []render.File {
	gens, err := cfg.generators(api)
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := newHeaders("", defaultBuildTag)
	if err != nil {
		t.Fatal(err)
	}
	return files(gens, h)
}

func renderAll(t testing.TB, cfg Config, api *model.API) map[string][]byte {
	parsed, err := render.Parse(templates.Files, packages())
	if err != nil {
		t.Fatal(err)
	}
	contents, err := parsed.Render(filesOf(t, cfg, api))
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// TestGofmtChangesNothing checks the assumption under which the generators don't call gofmt.
func TestGofmtChangesNothing(t *testing.T) {
	api := kubernetes(t, ascending)
	plain := everything()
	plain.Client.ApplyConfigurationPackage, plain.Client.PrefersProtobuf = "", false
	for name, cfg := range map[string]Config{"everything": everything(), "plain": plain} {
		contents := renderAll(t, cfg, api)
		if len(contents) < 1000 {
			t.Errorf("%s: only %d files", name, len(contents))
		}
		paths := slices.Sorted(maps.Keys(contents))
		var workers sync.WaitGroup
		cores := runtime.GOMAXPROCS(0)
		for w := range cores {
			workers.Go(func() {
				for i := w; i < len(paths); i += cores {
					text := contents[paths[i]]
					formatted, err := format.Source(text)
					if err != nil {
						t.Errorf("%s: %s: %v", name, paths[i], err)
					} else if !bytes.Equal(formatted, text) {
						t.Errorf("%s: gofmt makes of %s:\n%s", name, paths[i], formatted)
					}
				}
			})
		}
		workers.Wait()
	}
}

// TestOutputIsDeterministic renders twice, the second time with the inputs reversed.
func TestOutputIsDeterministic(t *testing.T) {
	first := renderAll(t, everything(), kubernetes(t, ascending))
	again := renderAll(t, everything(), kubernetes(t, descending))
	if !maps.EqualFunc(first, again, bytes.Equal) {
		t.Error("the same input gave other output")
	}
}

// TestTemplatesNameTheirView checks that the first line of each template names the struct
// that the tables pass to it.
func TestTemplatesNameTheirView(t *testing.T) {
	api := kubernetes(t, ascending)
	views := map[string]string{}
	for _, f := range filesOf(t, everything(), api) {
		views[f.Template] = strings.TrimPrefix(fmt.Sprintf("%T", f.View()), "generators.")
	}
	said := regexp.MustCompile(`^\{\{- /\* An? (\w+)\. \*/ -\}\}\n`)
	for path, view := range views {
		text, err := templates.Files.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if match := said.FindSubmatch(text); match == nil || string(match[1]) != view {
			t.Errorf("%s is given a %s; its first line should say so: {{- /* A %s. */ -}}", path, view, view)
		}
	}
	all, err := fs.Glob(templates.Files, "*/*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		// Imported types have no table: files for them follow from manifests.
		if views[path] == "" && !strings.HasPrefix(path, "shared/") && !strings.HasPrefix(path, "types/") {
			t.Errorf("no table mentions %s", path)
		}
	}
}
