package crds

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/internal/scratch"
)

// TestRemoved begins an API with two kinds and two versions, and runs the commands for generation of
// docs/first-api.md after a type, a kind and a version were removed.
func TestRemoved(t *testing.T) {
	v := newVisitor(t, filepath.Join(scratch.FixedForTest(t), "a"), firstAPI, proxy(t))
	v.module("shop")
	v.do("go tool kubewright init --kind Bakery", "go tool kubewright init --kind Oven")
	v.do("echo 'type Crumb struct{ Parent *Crumb }' >> apis/shop/v1/oven_types.go",
		"go tool kubewright init --kind Bakery --version v2",
		"go tool kubewright init --kind Oven --version v2")
	v.write("apis/shop/v2/scale.go", scaleFile)
	v.write("scale_test.go", scaleTest)
	for _, removal := range []struct {
		what, command string
		// listers are the versions that have listers of ovens.
		listers []string
	}{
		{"nothing", "true", []string{"v1", "v2"}},
		{"a type", "sed -i /Crumb/d apis/shop/v1/oven_types.go", []string{"v1", "v2"}},
		{"a kind", "rm apis/shop/v1/oven_types.go", []string{"v2"}},
		{"a version", "rm -r apis/shop/v2 scale_test.go", nil},
	} {
		v.do(removal.command)
		v.generate()
		if removal.what == "nothing" {
			twoVersions(t, filepath.Join(v.Dir, "crds"))
		}
		var found []string
		for _, version := range []string{"v1", "v2"} {
			file := filepath.Join(v.Dir, "pkg/client/listers/shop", version, "oven.go")
			if _, err := os.Stat(file); err == nil {
				found = append(found, version)
			}
		}
		if !slices.Equal(found, removal.listers) {
			t.Errorf("without %s, listers of ovens are in %v, not %v", removal.what, found, removal.listers)
		}
	}
}

// scaleFile registers a type of another package as kubewright init says, and scaleTest tests it.
const scaleFile = `package v2

import autoscalingv1 "k8s.io/api/autoscaling/v1"

func init() { SchemeBuilder.Register(autoscalingv1.AddToScheme) }
`

const scaleTest = `package shop

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v2 "example.com/shop/apis/shop/v2"
	"example.com/shop/pkg/client/clientset/versioned/scheme"
)

func TestScale(t *testing.T) {
	for _, object := range []runtime.Object{&autoscalingv1.Scale{}, &v2.Oven{}} {
		if kinds, _, err := scheme.Scheme.ObjectKinds(object); err != nil {
			t.Error(kinds, err)
		}
	}
}
`

// twoVersions installs definitions on a server, and checks that an oven which is created in one version is
// there in the other.
func twoVersions(t *testing.T, crds string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.InstallCRDs(ctx, os.DirFS(crds)); err != nil {
		t.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(server.Config())
	ovens := schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "ovens"}
	oven := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Oven",
		"metadata": map[string]any{"name": "big"}, "spec": map[string]any{"replicas": int64(200)}}}
	_, err = client.Resource(ovens).Namespace("town").Create(ctx, oven, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ovens.Version = "v2"
	got, err := client.Resource(ovens).Namespace("town").Get(ctx, "big", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	replicas, _, err := unstructured.NestedInt64(got.Object, "spec", "replicas")
	if err != nil || replicas != 200 || got.GetAPIVersion() != "shop.example.com/v2" {
		t.Errorf("the oven is %v, %v", got.Object, err)
	}
}

// generate runs the page's commands for generation.
func (v *visitor) generate() {
	v.t.Helper()
	for _, b := range sectionOf(v.t, firstAPI, "Your own API") {
		if strings.HasPrefix(b.Text, "go generate ") {
			v.do(b.Commands()...)
			return
		}
	}
	v.t.Fatalf("%s has no block that generates", firstAPI)
}
