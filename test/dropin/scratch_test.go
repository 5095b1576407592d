package dropin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the scratch module.
const module = "example.com/dropin"

const examples = "github.com/kubewright/kubewright/examples/apis/"

var (
	// custom are the APIs that both can generate everything for.
	custom = []string{examples + "shop/v1", examples + "shop/v1beta1", module + "/zoo/v1"}
	// hyphen is in the name of a group and its folder: upstream's informer-gen
	// makes a package clause of it.
	hyphen = examples + "gift-cards.promo/v1"
	// kube are some of Kubernetes' own APIs, with every kind of extra method
	// that there is: bindings, tokens, evictions, scales, approvals, reviews.
	kube = []string{"apps/v1", "authorization/v1", "certificates/v1", "core/v1", "networking/v1"}
)

// scratch is a module for what is generated.
type scratch struct {
	t               *testing.T
	dir, repository string
	// bin has the generators, in a folder for each of the two flavours.
	bin string
}

// newScratch makes the module, with the generators, the APIs that only exist
// there, and what compares.
func newScratch(t *testing.T) *scratch {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := &scratch{t: t, dir: t.TempDir(), repository: filepath.Dir(filepath.Dir(here)), bin: t.TempDir()}
	s.build(here, "upstream", "k8s.io/code-generator/cmd/", "client-gen", "lister-gen", "informer-gen", "applyconfiguration-gen", "deepcopy-gen")
	s.build(here, "ours", "github.com/kubewright/kubewright/cmd/", "client-gen", "lister-gen", "informer-gen")

	s.write("go.mod", s.goMod(filepath.Join(here, "go.mod")))
	sums, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("go.sum", string(sums))
	s.write("header.txt", "")
	s.copy(filepath.Join(here, "testdata", "zoo"), "zoo/v1", strings.NewReplacer())
	s.copy(filepath.Join(here, "testdata", "compare"), "compare", strings.NewReplacer())
	s.run(s.generator("upstream", "deepcopy-gen"), "--go-header-file", "header.txt", "--output-file", "zz_generated.deepcopy.go", module+"/zoo/v1")
	s.run(s.generator("upstream", "applyconfiguration-gen"), slices.Concat([]string{
		"--go-header-file", "header.txt", "--output-dir", "applyconfiguration", "--output-pkg", module + "/applyconfiguration",
	}, custom, []string{hyphen})...)
	return s
}

// build builds generators as this module requires them.
func (s *scratch) build(here, flavour, prefix string, commands ...string) {
	s.t.Helper()
	args := []string{"build", "-o", filepath.Join(s.bin, flavour) + string(filepath.Separator)}
	for _, command := range commands {
		args = append(args, prefix+command)
	}
	cmd := exec.CommandContext(s.t.Context(), "go", args...)
	cmd.Dir = here
	if output, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

func (s *scratch) generator(flavour, name string) string {
	return filepath.Join(s.bin, flavour, name)
}

// goMod is this module's go.mod made to fit the scratch module.
func (s *scratch) goMod(file string) string {
	s.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	mod := regexp.MustCompile(`(?s)\ntool \(.*?\n\)\n`).ReplaceAllString(string(text), "\n")
	mod = regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(mod, "module "+module)
	return strings.Replace(mod, "=> ../..", "=> "+s.repository, 1)
}

// generate runs the generators of one flavour.
func (s *scratch) generate(flavour string) {
	s.t.Helper()
	root := module + "/" + flavour
	generate := func(name, output string, args ...[]string) {
		s.t.Helper()
		where := []string{"--go-header-file", "header.txt", "--output-dir", flavour + output, "--output-pkg", root + output}
		s.run(s.generator(flavour, name), slices.Concat(where, slices.Concat(args...))...)
	}
	listed := slices.Concat(custom, []string{hyphen})

	generate("client-gen", "/clientset", []string{
		"--clientset-name", "versioned",
		"--input-base", "", "--input", strings.Join(listed, ","),
		"--apply-configuration-package", module + "/applyconfiguration",
	})
	generate("client-gen", "/clientset", []string{
		"--clientset-name", "kube",
		"--input-base", "k8s.io/api", "--input", strings.Join(kube, ","),
		"--apply-configuration-package", "k8s.io/client-go/applyconfigurations",
		"--plural-exceptions", "Endpoints:Endpoints", "--prefers-protobuf",
	})
	generate("lister-gen", "/listers", listed)
	generate("informer-gen", "/informers", []string{
		"--versioned-clientset-package", root + "/clientset/versioned",
		"--listers-package", root + "/listers",
	}, custom)
}

// write writes a file of the scratch module.
func (s *scratch) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}
