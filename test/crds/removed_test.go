package crds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoved runs README's commands for generation after a type, a kind and a version were removed.
func TestRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a new module")
	}
	v := newVisitor(t, filepath.Join(t.TempDir(), "a"), "README.md", proxy(t))
	v.module("shop")
	v.do("go tool kubewright init --kind Bakery", "go tool kubewright init --kind Oven --version v2")
	bakery := v.read("apis/shop/v1/types.go")
	for _, api := range []struct {
		what, types string
		folders     []string
	}{
		{"all", bakery + ofKind(bakery, "Mill") + "type Crumb struct{ Parent *Crumb }\n", []string{"v1", "v2"}},
		{"without a type", bakery + ofKind(bakery, "Mill"), []string{"v1", "v2"}},
		{"without a kind", bakery, []string{"v1", "v2"}},
		{"without a version", bakery, []string{"v1"}},
	} {
		for _, version := range []string{"v1", "v2"} {
			if folder := "apis/shop/" + version; !strings.Contains(strings.Join(api.folders, " "), version) {
				v.do("rm -r " + folder)
			}
		}
		v.do("cat > apis/shop/v1/types.go <<'END'\n" + api.types + "END")
		v.generate()
		want := map[string]bool{"bakery": true, "mill": strings.Contains(api.types, "Mill"),
			"oven": len(api.folders) == 2}
		for kind, exists := range want {
			found, err := filepath.Glob(filepath.Join(v.Dir, "pkg/client/listers/shop/*", kind+".go"))
			if err != nil || exists != (len(found) == 1) {
				t.Errorf("%s: listers of %s: %v, %v", api.what, kind, found, err)
			}
		}
	}
}

// generate runs README's commands for generation.
func (v *visitor) generate() {
	v.t.Helper()
	for _, b := range sectionOf(v.t, "README.md", "Your own API") {
		if strings.HasPrefix(b.Text, "go generate ") {
			v.do(b.Commands()...)
			return
		}
	}
	v.t.Fatal("README has no block that generates")
}

// read returns the text of a file in the visitor's folder.
func (v *visitor) read(name string) string {
	v.t.Helper()
	text, err := os.ReadFile(filepath.Join(v.Dir, name))
	if err != nil {
		v.t.Fatal(err)
	}
	return string(text)
}

// ofKind returns the types of a file for the kind Bakery, for another kind.
func ofKind(types, kind string) string {
	_, decls, _ := strings.Cut(types, "\n)\n")
	return strings.ReplaceAll(strings.ReplaceAll(decls, "Bakery", kind), "bakeries", strings.ToLower(kind)+"s")
}
