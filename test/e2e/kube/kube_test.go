package kube

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKubernetesAPI generates clientset, fakes, listers and informers of every type of k8s.io/api that has a
// client, compiles them and runs go vet. The test in testdata/scratch then runs those of Pods and ConfigMaps
// against a kube-apiserver.
func TestKubernetesAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the clients of all of k8s.io/api, and a kube-apiserver")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	m, err := newModule(t, root)
	if err != nil {
		t.Fatal(err)
	}
	took, files, err := generate(m, root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	versions, err := filepath.Glob(filepath.Join(m.Dir, "pkg/client/clientset/versioned/typed/*/*/doc.go"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("generated %d files of %d packages in %d ms", files, len(versions), took.Milliseconds())
	// The number of group versions that have a type with a client, in the version of k8s.io/api that go.mod
	// names.
	if len(versions) != 56 {
		t.Errorf("clients of %d packages of k8s.io/api, want 56", len(versions))
	}
	endpoints, err := os.ReadFile(filepath.Join(m.Dir,
		"pkg/client/clientset/versioned/typed/core/v1/endpoints.go"))
	if err != nil || !bytes.Contains(endpoints, []byte(`"endpoints"`)) {
		t.Errorf("the client of Endpoints doesn't mention the resource endpoints: %v", err)
	}

	for _, args := range []string{"go build ./...", "go vet ./...", "go test -v -count=1 ./informers"} {
		begin := time.Now()
		words := strings.Fields(args)
		out, err := m.Run(words[0], words[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(args, "go test") {
			t.Log("\n" + out)
		}
		t.Logf("%s: %.1f s", args, time.Since(begin).Seconds())
	}
}
