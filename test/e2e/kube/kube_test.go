package kube

import (
	"strings"
	"testing"
	"time"
)

// TestKubernetesAPI generates clientset, fakes, listers and informers of every
// type of k8s.io/api that has a client: they compile and pass go vet. Those of
// Pods and ConfigMaps then run against a kube-apiserver, which is the business
// of the test in testdata/scratch.
func TestKubernetesAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the clients of all of k8s.io/api and a kube-apiserver, which takes minutes the first time")
	}
	ctx := t.Context()
	s, err := newScratch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := s.packages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// v0.37.2 has 56. Another version may have others, but not as few as that.
	if len(packages) < 40 {
		t.Fatalf("found %d packages with a client in k8s.io/api", len(packages))
	}
	took, files, err := s.generate(ctx, t.TempDir(), packages)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("generated %d files of %d packages in %d ms", files, len(packages), took.Milliseconds())

	for _, args := range []string{"go build ./...", "go vet ./...", "go test -v -count=1 ./informers"} {
		begin := time.Now()
		out, err := run(ctx, s.dir, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(args, "go test") {
			t.Log("\n" + out)
		}
		t.Logf("%s: %.1f s", args, time.Since(begin).Seconds())
	}
}
