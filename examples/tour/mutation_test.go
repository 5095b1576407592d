package tour

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// Objects of a cache are shared by all its readers, so nobody may change them. A change causes no error, but
// until the object's next event all readers see a state that the server never sent, indexes don't follow, and
// a concurrent reader has a data race.
//
// With KUBE_CACHE_MUTATION_DETECTOR=true in the environment, informers copy each object that arrives, compare
// every second, and panic if the two differ. A copy is kept for 2 to 4 minutes: later changes aren't noticed.
// Use it in tests. The panic ends the process, and client-go reads the variable when the process starts, so
// this test runs itself as a child process. For production there is a detector that samples objects:
// informer.Options.MutationSample.
func TestMutationDetector(t *testing.T) {
	const child = "TOUR_MUTATES"
	if os.Getenv(child) != "" {
		changeCachedObject(t)
		return
	}
	command := exec.CommandContext(t.Context(), os.Args[0],
		"-test.run=^TestMutationDetector$", "-test.timeout=1m")
	command.Env = append(os.Environ(), child+"=1", "KUBE_CACHE_MUTATION_DETECTOR=true")
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ALTERED") {
		t.Errorf("error %v, want a panic that names what was modified, not\n%s", err, out)
	}
}

// changeCachedObject does what a handler must not do, and waits for the panic.
func changeCachedObject(t *testing.T) {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
	server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye"}})
	// No resync, no indexes.
	informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, cache.Indexers{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		obj.(*corev1.ConfigMap).Data = map[string]string{"sold": "out"} // of the cache: DeepCopy it first
	}})
	if err != nil {
		t.Fatal(err)
	}
	informer.RunWithContext(context.Background())
}
