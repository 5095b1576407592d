package apiserver_test

import (
	"context"
	"io/fs"
	"net"
	"net/url"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"

	"github.com/kubewright/kubewright/envtest/apiserver"
)

const manifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.harbour.example}
spec:
  group: harbour.example
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {length: {type: integer}}}}}}
`

var boats = schema.GroupVersionResource{Group: "harbour.example", Version: "v1", Resource: "boats"}

func boat(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "harbour.example/v1",
		"kind":       "Boat",
		"metadata":   map[string]any{"name": name},
		"spec":       map[string]any{"length": int64(12)},
	}}
}

// TestLifetime checks everything that the package promises of a server, from Start to Stop.
func TestLifetime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	manifests := fstest.MapFS{"boats.yaml": {Data: []byte(manifest)}}

	begin := time.Now()
	server, err := apiserver.Start(ctx, apiserver.Options{DisableWatchCache: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(begin))
	defer server.Stop()
	begin = time.Now()
	if err := server.InstallCRDs(ctx, manifests); err != nil {
		t.Fatal(err)
	}
	t.Logf("definition served after %v", time.Since(begin))
	checkMature(ctx, t, server, "boats.harbour.example")

	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	begin = time.Now()
	first, err := client.Resource(boats).Namespace("east").Create(ctx, boat("first"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("first object after %v", time.Since(begin))
	for _, name := range []string{"second", "third"} {
		if _, err := client.Resource(boats).Namespace("east").Create(
			ctx, boat(name), metav1.CreateOptions{},
		); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := server.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	w, err := client.Resource(boats).Watch(ctx,
		metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
	if err == nil {
		event := <-w.ResultChan()
		w.Stop()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("watching a compacted version: %v, want 410", err)
	}

	if err := server.DeleteCRDs(ctx, "boats.harbour.example"); err != nil {
		t.Fatal(err)
	}

	host, err := url.Parse(server.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	if host.Hostname() != "127.0.0.1" {
		t.Errorf("the server is at %s, want 127.0.0.1", host)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if err := server.Stop(); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
	if connection, err := net.Dial("tcp", host.Host); err == nil {
		connection.Close()
		t.Errorf("the stopped server still takes connections at %s", host.Host)
	}
	if left, _ := os.ReadDir(scratch); len(left) > 0 {
		t.Errorf("%s is left of the stopped server", left[0].Name())
	}
}

// checkMature checks that the server delays no creation of objects of a definition, as it does for 2 s after
// that was established.
func checkMature(ctx context.Context, t *testing.T, server *apiserver.Server, name string) {
	t.Helper()
	client, err := clientset.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	crd, err := client.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := apihelpers.FindCRDCondition(crd, apiextensionsv1.Established)
	if c == nil || c.Status != apiextensionsv1.ConditionTrue ||
		time.Since(c.LastTransitionTime.Time) < 2*time.Second {
		t.Errorf("%s is installed, and established as of %+v: the server delays its first object", name, c)
	}
}

// TestStopCutsWatches stops a server while an informer watches it.
func TestStopCutsWatches(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{Logs: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.InstallCRDs(ctx, fstest.MapFS{"boats.yaml": {Data: []byte(manifest)}}); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	factory.ForResource(boats).Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	w, err := client.Resource(boats).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	stopped := make(chan error, 1)
	begin := time.Now()
	go func() { stopped <- server.Stop() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Errorf("Stop: %v", err)
		}
		t.Logf("stopped after %v", time.Since(begin))
		for range w.ResultChan() {
			// The loop ends because the watch was cut.
		}
	case <-ctx.Done():
		t.Error("Stop waits for the watches")
		<-stopped
	}
}

// TestReadCRDsSkipsComments reads a file like those that generators write.
func TestReadCRDsSkipsComments(t *testing.T) {
	const text = "# Code generated.\n---\napiVersion: apiextensions.k8s.io/v1\n" +
		"kind: CustomResourceDefinition\nmetadata: {name: a}\n--- # nothing\n# The end.\n---\n"
	crds, err := apiserver.ReadCRDs(fstest.MapFS{"a.yaml": {Data: []byte(text)}})
	if err != nil || len(crds) != 1 || crds[0].Name != "a" {
		t.Errorf("read %v, %v", crds, err)
	}
}

func TestReadCRDsRefuses(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, content string) fs.FS { return fstest.MapFS{name: {Data: []byte(content)}} }
	for name, c := range map[string]struct {
		manifests fs.FS
		want      string
	}{
		"an unknown field": {
			file("a.yaml",
				"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspeck: {}\n"),
			`a.yaml: want only CustomResourceDefinitions at the top of the folder: error unmarshaling ` +
				`JSON: while decoding JSON: json: unknown field "speck"`},
		"another kind": {file("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"),
			"a.yaml: found /v1, Kind=ConfigMap, want only apiextensions.k8s.io/v1, " +
				"Kind=CustomResourceDefinition"},
		"no file": {fstest.MapFS{},
			"no CustomResourceDefinition in any *.yaml at the top of the folder; folders below it are not " +
				"looked into"},
		"a file in a folder": {file("bases/a.yaml", ""),
			"no CustomResourceDefinition in any *.yaml at the top of the folder; folders below it are not " +
				"looked into"},
		"a folder that isn't there": {os.DirFS("not-there"),
			"reading the folder of definitions not-there in " + here + ": stat .: no such file or directory"},
		"a folder that isn't there, by its whole path": {os.DirFS("/not-there"),
			"reading the folder of definitions /not-there: stat .: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if crds, err := apiserver.ReadCRDs(c.manifests); err == nil || err.Error() != c.want {
				t.Errorf("read %d definitions, %v, want %s", len(crds), err, c.want)
			}
		})
	}
}
