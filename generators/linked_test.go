package generators_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/scratch"
)

// TestLinkedPackages checks what programs with generated code link: no fakes, no testing packages and nothing
// of the runtime that few need, and with --lean neither discovery nor the packages behind Apply.
func TestLinkedPackages(t *testing.T) {
	t.Parallel()
	bin := buildCommands(t)
	forTests := regexp.MustCompile(`^testing$|^k8s\.io/client-go/testing$|/fake$|/fake/|testify|goleak`)
	fat := regexp.MustCompile(`^k8s\.io/client-go/(discovery|kubernetes|applyconfigurations)|managedfields|` +
		`structured-merge-diff/v\d+/(typed|merge|schema)|kube-openapi/pkg/(schemaconv|util/proto|handler)|` +
		`^k8s\.io/api/`)
	unused := regexp.MustCompile(`/kubewright/runtime/(factory/namespaces|gen/view)$`)
	for name, c := range map[string]struct {
		flags     []string
		forbidden []*regexp.Regexp
	}{
		"everything": {[]string{"--with-applyconfig"}, []*regexp.Regexp{forTests, unused}},
		"lean":       {[]string{"--lean"}, []*regexp.Regexp{forTests, unused, fat}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := scratch.FixedForTest(t)
			a := api{flags: c.flags,
				packages: []apiPackage{{folder: "shop", version: "v1", group: "shop.example.com",
					hasGroup: true, kinds: []apiKind{{name: "Bakery"}}}}}
			writeFile(t, filepath.Join(dir, "go.mod"), "module "+module+"\n\ngo 1.26\n")
			a.write(t, dir)
			if out, err := a.generate(bin, dir); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := goInModule(dir, "list", "-deps", "./pkg/client/clientset/versioned",
				"./pkg/client/informers/...", "./pkg/client/listers/...")
			if err != nil {
				t.Fatal(err)
			}
			paths := strings.Fields(out)
			if len(paths) < 200 {
				t.Fatalf("only %d packages", len(paths))
			}
			for _, path := range paths {
				for _, forbidden := range c.forbidden {
					if forbidden.MatchString(path) {
						t.Errorf("programs link %s", path)
					}
				}
			}
		})
	}
}
