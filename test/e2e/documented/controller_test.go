package documented

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// TestMain runs the test in a folder like a repository in kubebuilder's layout.
func TestMain(m *testing.M) {
	code, err := inRepository(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func inRepository(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "documented")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(filepath.Join(dir, "config/crd/bases"), crds.Files); err != nil {
		return 0, err
	}
	if err := os.Chdir(dir); err != nil {
		return 0, err
	}
	return run(), nil
}

func TestController(t *testing.T) {
	server, err := apiserver.Start(t.Context(), apiserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.InstallCRDs(t.Context(), os.DirFS("config/crd/bases")); err != nil {
		t.Fatal(err)
	}
	client := versioned.NewForConfigOrDie(server.Config()) // a *rest.Config, with the rights of an administrator
	// Start your controller with client, write objects, and check what becomes of them.
	bakeries, err := client.ShopV1().Bakeries("town").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(bakeries.Items) > 0 {
		t.Errorf("error %v, %d bakeries", err, len(bakeries.Items))
	}
}
