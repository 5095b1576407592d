package model

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// clientGo returns the folder of the client-go version that this module requires.
func clientGo(t *testing.T) string {
	t.Helper()
	// Without -m, the go command downloads the module if it isn't there.
	out, err := exec.CommandContext(t.Context(), "go", "list", "-find", "-f", "{{.Module.Dir}}",
		"k8s.io/client-go/rest").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNamesAreClientGo compares the model of k8s.io/api with client-go, which upstream's generators made
// from it.
func TestNamesAreClientGo(t *testing.T) {
	root := clientGo(t)
	api, problems := Load(t.Context(), k8sConfig())
	if api == nil {
		t.Fatal(problems)
	}
	var groups, resources []string
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			groups = append(groups, v.GoGroupName+v.GoName)
			dir := filepath.Join(root, "kubernetes/typed", group.PackageName, v.PackageName)
			var getters []string
			for _, k := range v.Kinds {
				getters = append(getters, k.Plural+"Getter")
				checkClient(t, k, read(t, dir, k.Lower+".go"))
				if k.HasLister() != exists(root, "listers", group.PackageName, v.PackageName, k.Lower+".go") {
					t.Errorf("%s: HasLister is %v", k.Name, k.HasLister())
				}
				if k.HasInformer() != exists(root, "informers", group.PackageName, v.PackageName,
					k.Lower+".go") {
					t.Errorf("%s: HasInformer is %v", k.Name, k.HasInformer())
				}
				if k.HasInformer() {
					resources = append(resources,
						fmt.Sprintf("%s().%s().%s()/%s", v.GoGroupName, v.GoName, k.Plural, k.Resource))
				}
			}
			client := read(t, dir, group.PackageName+"_client.go")
			if got := submatches(client, `(?m)^\t(\w+Getter)$`); !slices.Equal(got, getters) {
				t.Errorf("%s: kinds are in the order %v, want %v", dir, getters, got)
			}
		}
	}
	// client-go lists the versions of a group in the order of a shell variable, and the groups in another
	// order.
	ofClientset := submatches(read(t, root, "kubernetes/clientset.go"),
		`(?m)^\t(\w+V\d\w*)\(\) \w+\.\w+Interface$`)
	if got, want := withoutVersions(groups), withoutVersions(ofClientset); !slices.Equal(got, want) {
		t.Errorf("groups are in the order\n%v, want\n%v", got, want)
	}
	slices.Sort(groups)
	slices.Sort(ofClientset)
	if !slices.Equal(groups, ofClientset) {
		t.Errorf("versions are\n%v, want\n%v", groups, ofClientset)
	}
	var want []string
	for _, match := range regexp.MustCompile(
		`WithResource\("(.*)"\)[^\n]*\n[^\n]*informer: f\.(.*?)\.Informer\(\)`).FindAllStringSubmatch(
		read(t, root, "informers/generic.go"), -1) {
		want = append(want, match[2]+"/"+match[1])
	}
	slices.Sort(want)
	slices.Sort(resources)
	if !slices.Equal(resources, want) {
		t.Errorf("resources are\n%v, want\n%v", resources, want)
	}
}

// withoutVersions returns the distinct groups, in order.
func withoutVersions(names []string) []string {
	var groups []string
	for _, name := range names {
		groups = append(groups, regexp.MustCompile(`V\d\w*$`).ReplaceAllString(name, ""))
	}
	return slices.Compact(groups)
}

func exists(elements ...string) bool {
	_, err := os.Stat(filepath.Join(elements...))
	return err == nil
}

func submatches(text, pattern string) []string {
	var found []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

// checkClient compares a kind with client-go's client for it: names, scope,
// and the methods of the interface in their order.
func checkClient(t *testing.T, k *Kind, text string) {
	t.Helper()
	argument := ""
	if k.Namespaced {
		argument = "namespace string"
	}
	for _, want := range []string{
		fmt.Sprintf("type %sGetter interface {\n\t%s(%s) %sInterface\n}", k.Plural, k.Plural,
			argument, k.Name),
		fmt.Sprintf("type %s struct {", k.PrivatePlural),
		fmt.Sprintf("func new%s(", k.Plural),
		fmt.Sprintf("\n\t\t\t%q,\n", k.Resource),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: client-go has no %q", k.Name, want)
		}
	}
	_, body, _ := strings.Cut(text, "type "+k.Name+"Interface interface {")
	body, _, _ = strings.Cut(body, "\n}")
	var methods []string
	for _, verb := range marker.Verbs() {
		if name := verb.Name; k.Verb[name] && !k.NoVerbs {
			methods = append(methods, strings.ToUpper(name[:1])+name[1:])
		}
	}
	for _, m := range k.Methods {
		methods = append(methods, m.Name)
	}
	// client-go v0.38 lists this one, and our interfaces embed it, see runtime/gen/client.Deleter.
	got := slices.DeleteFunc(submatches(body, `(?m)^\t(\w+)\(`), func(name string) bool {
		return name == "DeleteWithResult"
	})
	if !slices.Equal(got, methods) {
		t.Errorf("%s: methods are %v, want %v", k.Name, methods, got)
	}
}
