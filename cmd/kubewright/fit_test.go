package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestClientGo checks that the constant is the first version of those that make upstream builds with, and
// that go.mod has one of these.
func TestClientGo(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	versions, versionsErr := os.ReadFile("../../upstream/versions")
	if err := errors.Join(err, versionsErr); err != nil {
		t.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(versions)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			all = append(all, words[0])
		}
	}
	if all[0] != clientGo {
		t.Errorf("the constant is %s, but upstream/versions begins with %s", clientGo, all[0])
	}
	if !slices.ContainsFunc(all, func(version string) bool {
		return strings.Contains(string(text), "\t"+clientGoModule+" "+version+"\n")
	}) {
		t.Errorf("go.mod requires %s in none of the versions %v", clientGoModule, all)
	}
}

// TestFit checks what is said about a module, by its requirements.
func TestFit(t *testing.T) {
	for name, test := range map[string]struct{ require, want string }{
		"no client-go": {"k8s.io/klog/v2 v2.140.0", ""},
		"the same":     {"k8s.io/client-go v0.37.0", "example.com/x requires k8s.io/client-go v0.37.0\n"},
		"an older controller-runtime": {"k8s.io/client-go v0.37.2\nsigs.k8s.io/controller-runtime v0.24.1",
			"example.com/x requires k8s.io/client-go v0.37.2\n"},
		"some are older": {"k8s.io/client-go v0.37.2\nk8s.io/apiserver v0.36.4",
			"example.com/x requires k8s.io/client-go v0.37.2\n" +
				"raise all modules of Kubernetes together, then run go mod tidy:\n" +
				"    go get \\\n        k8s.io/apiserver@v0.37.2\n"},
		"replaced": {"k8s.io/client-go v0.34.5\nk8s.io/kubectl v0.34.5\n)\n\nreplace (\n" +
			"k8s.io/client-go => k8s.io/client-go v0.34.5\n" +
			"k8s.io/api => k8s.io/api v0.34.5\n" +
			"sigs.k8s.io/controller-runtime => sigs.k8s.io/controller-runtime v0.22.4",
			"example.com/x requires k8s.io/client-go v0.34.5\n" +
				"raise all modules of Kubernetes together, then run go mod tidy:\n" +
				"    go mod edit \\\n        -replace=k8s.io/client-go=k8s.io/client-go@v0.37.2 \\\n" +
				"        -replace=k8s.io/api=k8s.io/api@v0.37.2 \\\n" +
				"        -replace=sigs.k8s.io/controller-runtime=sigs.k8s.io/controller-runtime@" +
				movedControllerRuntime + "\n" +
				"    go get \\\n        k8s.io/kubectl@v0.37.2\n"},
		"a newer one": {"k8s.io/client-go v0.38.0-alpha.2",
			"example.com/x requires k8s.io/client-go v0.38.0-alpha.2\n" +
				"it is newer than this kubewright is for: use the kubewright of that minor version\n"},
		"older ones": {"k8s.io/api v0.36.1\nk8s.io/client-go v0.36.4\nk8s.io/apiserver v0.36.4 // indirect\n" +
			"k8s.io/klog/v2 v2.140.0\nk8s.io/utils v0.0.0-20260626114624-be93311217bd\n" +
			"sigs.k8s.io/controller-runtime v0.24.0",
			"example.com/x requires k8s.io/client-go v0.36.4\n" +
				"raise all modules of Kubernetes together, then run go mod tidy:\n" +
				"    go get \\\n        k8s.io/api@v0.37.2 \\\n        k8s.io/client-go@v0.37.2 \\\n" +
				"        k8s.io/apiserver@v0.37.2 \\\n        sigs.k8s.io/controller-runtime@v0.25\n"},
	} {
		got, err := fitOf("go.mod", []byte("module example.com/x\n\nrequire (\n"+test.require+"\n)\n"))
		if err != nil || got != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, test.want)
		}
	}
	for _, broken := range []string{"module", "", "require k8s.io/client-go v0.37.2"} {
		if _, err := fitOf("go.mod", []byte(broken)); err == nil {
			t.Errorf("a go.mod with %q is accepted", broken)
		}
	}
}
