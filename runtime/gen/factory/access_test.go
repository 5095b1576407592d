package factory

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// TestAccess checks that an Access calls its functions, gets the informer anew each time, and makes the
// lister over the current informer's cache.
func TestAccess(t *testing.T) {
	var informers []cache.SharedIndexInformer
	for range 2 {
		informers = append(informers, cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil))
	}
	current := informers[0]
	a := NewAccess(func() cache.SharedIndexInformer { return current }, informer.Typed[*corev1.Pod],
		func(i cache.Indexer) cache.Indexer { return i })
	for _, want := range informers {
		current = want
		if a.Informer() != want {
			t.Error("another informer")
		}
		if a.TypedInformer().GetIndexer() != want.GetIndexer() {
			t.Error("the typed informer is of another informer")
		}
		if a.Lister() != want.GetIndexer() {
			t.Error("the lister is over another cache")
		}
	}
	typed := WithTyped(a, informer.Typed[*corev1.Pod])
	if typed.Informer() != current || typed.Lister() != current.GetIndexer() ||
		typed.TypedInformer().GetIndexer() != current.GetIndexer() {
		t.Error("typed access to something else")
	}
}
