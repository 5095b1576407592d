package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// module is the path of the scratch module.
const module = "example.com/dropin"

const examples = "github.com/kubewright/kubewright/examples/apis/"

var (
	// custom are the APIs that both sets of generators can handle completely.
	custom = []string{examples + "shop/v1", examples + "shop/v1beta1", module + "/zoo/v1"}
	// hyphen has a hyphen in the name of its group and folder. Upstream's informer-gen copies it into a package
	// clause.
	hyphen = examples + "gift-cards.promo/v1"
	// kube are some of Kubernetes' own APIs, with every kind of additional method: bindings, tokens,
	// evictions, scales, approvals, reviews.
	kube = []string{"apps/v1", "authorization/v1", "certificates/v1", "core/v1", "networking/v1"}
)

// sandbox is a module for generated code, with a folder for each of the two flavours, and the generators of
// both.
type sandbox struct {
	*scratch.Module
	t *testing.T
}

// newSandbox creates the module, with the generators, the APIs that exist only there, and the tests that
// compare the results.
func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	s := &sandbox{scratch.ForTest(t, module, ".."), t}
	s.build("upstream", "k8s.io/code-generator/cmd/", "client-gen", "lister-gen", "informer-gen",
		"applyconfiguration-gen", "deepcopy-gen")
	s.build("ours", "github.com/kubewright/kubewright/cmd/", "client-gen", "lister-gen", "informer-gen")

	s.MustWrite(t, "header.txt", "")
	for from, to := range map[string]string{"zoo": "zoo/v1", "compare": "compare"} {
		if err := os.CopyFS(filepath.Join(s.Dir, to), os.DirFS(filepath.Join("testdata", from))); err != nil {
			t.Fatal(err)
		}
	}
	s.MustRun(t, s.generator("upstream", "deepcopy-gen"), "--go-header-file", "header.txt", "--output-file",
		"zz_generated.deepcopy.go", module+"/zoo/v1")
	s.MustRun(t, s.generator("upstream", "applyconfiguration-gen"), slices.Concat([]string{
		"--go-header-file", "header.txt", "--output-dir", "applyconfiguration",
		"--output-pkg", module + "/applyconfiguration",
	}, custom, []string{hyphen})...)
	return s
}

// build builds generators in the versions that this module requires.
func (s *sandbox) build(flavour, prefix string, commands ...string) {
	s.t.Helper()
	args := []string{"build", "-o", s.generator(flavour, "") + string(filepath.Separator)}
	for _, command := range commands {
		args = append(args, prefix+command)
	}
	s.MustRun(s.t, "go", args...)
}

func (s *sandbox) generator(flavour, name string) string {
	return filepath.Join(s.Dir, "bin", flavour, name)
}

// generate runs the generators of one flavour.
func (s *sandbox) generate(flavour string) {
	s.t.Helper()
	root := module + "/" + flavour
	generate := func(name, output string, args ...[]string) {
		s.t.Helper()
		where := []string{"--go-header-file", "header.txt", "--output-dir", flavour + output,
			"--output-pkg", root + output}
		s.MustRun(s.t, s.generator(flavour, name), slices.Concat(where, slices.Concat(args...))...)
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
