package conformance_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
)

var tools = conformance.Toolkit{
	Name:       "cache",
	Informer:   cache.NewInformerWithOptions,
	Controller: cache.New,
	DeltaFIFO:  func(o cache.DeltaFIFOOptions) cache.Queue { return cache.NewDeltaFIFOWithOptions(o) },
	Indexer:    func(k cache.KeyFunc, i cache.Indexers) cache.Indexer { return cache.NewIndexer(k, i) },
	ThreadSafeStore: func(i cache.Indexers) cache.ThreadSafeStore {
		return cache.NewThreadSafeStore(i, cache.Indices{})
	},
	MutationDetector: cache.NewCacheMutationDetector,
	UndeltaStore:     func(push func([]any), k cache.KeyFunc) cache.Store { return cache.NewUndeltaStore(push, k) },
	WaitForCacheSync: cache.WaitForCacheSync,
	GenericLister: func(i clientgo.Indexer) clientgo.GenericLister {
		return cache.NewGenericLister(i, corev1.Resource("configmaps"))
	},
}

// What package cache has beside shared informers does what client-go's does.
func TestToolConformance(t *testing.T) {
	conformance.ConformTools(t, conformance.ToolScenarios, conformance.ClientGoTools, tools)
}

// detecting is set in the process that tries out mutation detectors, which ask the
// environment when the process starts.
const detecting = "KUBE_CACHE_MUTATION_DETECTOR"

func TestDetectorConformance(t *testing.T) {
	if os.Getenv(detecting) == "true" {
		conformance.ConformTools(t, conformance.DetectorScenarios, conformance.ClientGoTools, tools)
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), detecting+"=true")
	out, err := again.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 1+len(conformance.DetectorScenarios) {
		t.Errorf("%v\n%s", err, out)
	}
}
