package cache

import "k8s.io/client-go/tools/cache"

// NewCacheMutationDetector returns a detector that keeps a copy of each object that is added to it, and
// panics when it finds that the object differs from the copy. It does nothing unless the environment
// variable KUBE_CACHE_MUTATION_DETECTOR is true.
func NewCacheMutationDetector(name string) MutationDetector {
	return cache.NewCacheMutationDetector(name)
}
