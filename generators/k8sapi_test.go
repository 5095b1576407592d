package generators

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
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

// kubernetes is all of k8s.io/api. It is loaded once, as that takes seconds with the race detector.
var kubernetes = sync.OnceValues(func() (*model.API, error) { return loadKubernetes(func([]string) {}) })

// loadKubernetes loads all of k8s.io/api, with the packages in the order that reorder gives them.
func loadKubernetes(reorder func(paths []string)) (*model.API, error) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}", "k8s.io/api/...").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	cfg := everything()
	paths := strings.Fields(string(out))
	reorder(paths)
	cfg.Inputs = packageInputs(paths)
	load, err := cfg.model()
	if err != nil {
		return nil, err
	}
	api, problems := model.Load(context.Background(), load)
	if problems.Fatal() {
		return nil, problems
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
	return api, nil
}

func filesOf(cfg Config, api *model.API) ([]render.File, error) {
	gens, err := cfg.generators(context.Background(), api)
	if err != nil {
		return nil, err
	}
	h, _, err := newHeaders("", defaultBuildTag, true)
	return files(gens, h), err
}

func renderAll(cfg Config, api *model.API) (map[string][]byte, error) {
	parsed, err := render.Parse(templates.Files, packages())
	if err != nil {
		return nil, err
	}
	files, err := filesOf(cfg, api)
	if err != nil {
		return nil, err
	}
	return parsed.Render(files)
}

// kubernetesFiles are all files for k8s.io/api.
var kubernetesFiles = sync.OnceValues(func() (map[string][]byte, error) {
	api, err := kubernetes()
	if err != nil {
		return nil, err
	}
	return renderAll(everything(), api)
})

// TestGofmtChangesNothing checks the assumption under which the generators don't call gofmt. It runs the
// command: with the race detector, package format takes a minute.
func TestGofmtChangesNothing(t *testing.T) {
	contents, err := kubernetesFiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(contents) < 1000 {
		t.Errorf("only %d files", len(contents))
	}
	api, err := kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	cfg := everything()
	cfg.Client.ApplyConfigurationPackage, cfg.Client.PrefersProtobuf = "", false
	plain, err := renderAll(cfg, api)
	if err != nil {
		t.Fatal(err)
	}
	dir, count := t.TempDir(), 0
	write := func(text []byte) {
		count++
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.go", count)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range contents {
		write(text)
	}
	for path, text := range plain {
		if !bytes.Equal(text, contents[path]) {
			write(text)
		}
	}
	if out, err := exec.Command("gofmt", "-d", dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %.5000s", err, out)
	}
}

// TestOutputIsDeterministic renders twice, the second time with the inputs reversed.
func TestOutputIsDeterministic(t *testing.T) {
	first, err := kubernetesFiles()
	reversed, errReversed := loadKubernetes(slices.Reverse[[]string])
	if err := errors.Join(err, errReversed); err != nil {
		t.Fatal(err)
	}
	again, err := renderAll(everything(), reversed)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(first, again, bytes.Equal) {
		t.Error("the same input gave other output")
	}
}

// TestTemplatesNameTheirView checks that the first line of each template names the struct
// that the tables pass to it.
func TestTemplatesNameTheirView(t *testing.T) {
	api, err := kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filesOf(everything(), api)
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]string{}
	for _, f := range files {
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
