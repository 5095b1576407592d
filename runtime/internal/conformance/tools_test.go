package conformance_test

import (
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
	UndeltaStore: func(push func([]any), k cache.KeyFunc) cache.Store {
		return cache.NewUndeltaStore(push, k)
	},
	WaitForCacheSync: cache.WaitForCacheSync,
	GenericLister: func(i clientgo.Indexer) clientgo.GenericLister {
		return cache.NewGenericLister(i, corev1.Resource("configmaps"))
	},
}

// TestToolConformance checks that the types of package cache, except shared informers, behave as client-go's.
func TestToolConformance(t *testing.T) {
	conformance.ConformTools(t, conformance.ToolScenarios, conformance.ClientGoTools, tools)
}
