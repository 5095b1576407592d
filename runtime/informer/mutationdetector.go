package informer

import "k8s.io/client-go/tools/cache"

// NewMutationDetector returns what informers find changes of cached objects
// with, for who caches objects by other means. It does nothing unless
// KUBE_CACHE_MUTATION_DETECTOR is true.
func NewMutationDetector(name string) cache.MutationDetector {
	return sharedDetector{newMutationDetector(name, Tuning{})}
}

type sharedDetector struct{ detector *mutationDetector }

func (s sharedDetector) AddObject(obj any) { s.detector.add(obj) }

func (s sharedDetector) Run(stopCh <-chan struct{}) {
	if s.detector != nil {
		s.detector.compare()
		s.detector.run(stopCh)
	}
}
