package generators_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingForTests looks at what programs link that use generated code: no
// fake and no testing package, and with --lean neither discovery nor what
// applying needs.
func TestNothingForTests(t *testing.T) {
	bin := buildCommands(t)
	forTests := regexp.MustCompile(`^testing$|^k8s\.io/client-go/testing$|/fake$|/fake/|testify|goleak`)
	fat := regexp.MustCompile(`^k8s\.io/client-go/(discovery|kubernetes|applyconfigurations)|managedfields|structured-merge-diff/v6/(typed|merge|schema)|kube-openapi/pkg/(schemaconv|util/proto|handler)|^k8s\.io/api/`)
	for name, c := range map[string]struct {
		flags     []string
		forbidden []*regexp.Regexp
	}{
		"everything": {[]string{"--with-applyconfig"}, []*regexp.Regexp{forTests}},
		"lean":       {[]string{"--with-applyconfig", "--lean"}, []*regexp.Regexp{forTests, fat}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			a := api{flags: c.flags, packages: []apiPackage{{folder: "shop", version: "v1", group: "shop.example.com", kinds: []apiKind{{name: "Bakery"}}}}}
			a.write(t, dir)
			if out, err := a.generate(bin, dir); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			requireRepository(t, dir)
			cmd := exec.Command("go", "list", "-deps", "./pkg/client/clientset/versioned", "./pkg/client/informers/...", "./pkg/client/listers/...")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PWD="+dir, "GOWORK=off", "GOFLAGS=-mod=mod")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			paths := strings.Fields(string(out))
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

// requireRepository makes the module in dir require the repository as it is, and
// what that requires.
func requireRepository(t *testing.T, dir string) {
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const own = "github.com/kubewright/kubewright"
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "go.mod" {
			text = []byte(strings.Replace(string(text), "module "+own, "module "+module, 1) +
				"\nrequire " + own + " v0.0.0\n\nreplace " + own + " => " + repository + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
