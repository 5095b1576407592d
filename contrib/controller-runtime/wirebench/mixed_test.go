package wirebench

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubewright/kubewright/internal/wirebench"
)

var (
	route      = wirebench.GroupVersion.WithKind("Route")
	policy     = wirebench.GroupVersion.WithKind("Policy")
	deployment = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// mixed returns the informers of a new manager that caches six kinds: two typed, of two the metadata, and two
// unstructured.
func (s setup) mixed(config *rest.Config) toolscache.SharedIndexInformer {
	m := s.manager(config)
	var informers []toolscache.SharedIndexInformer
	for _, object := range []client.Object{
		&wirebench.Workload{}, &corev1.ConfigMap{},
		metadataOf(corev1.SchemeGroupVersion.WithKind("Secret")), metadataOf(deployment),
		unstructuredOf(route), unstructuredOf(policy),
	} {
		informers = append(informers, informerOf(m, object))
	}
	return several{managed{informers[0], m}, informers}
}

// several are the informers of one manager, as one: it has synced when all have, and its store has the keys
// of all.
type several struct {
	managed
	all []toolscache.SharedIndexInformer
}

func (s several) HasSyncedChecker() toolscache.DoneChecker {
	done := make(chan struct{})
	go func() {
		for _, i := range s.all {
			<-i.HasSyncedChecker().Done()
		}
		close(done)
	}()
	return synced{s.managed.HasSyncedChecker(), done}
}

type synced struct {
	toolscache.DoneChecker
	done <-chan struct{}
}

func (s synced) Done() <-chan struct{} { return s.done }

func (s several) GetStore() toolscache.Store { return stores{s.managed.GetStore(), s.all} }

type stores struct {
	toolscache.Store
	all []toolscache.SharedIndexInformer
}

func (s stores) ListKeys() (keys []string) {
	for _, i := range s.all {
		keys = append(keys, i.GetStore().ListKeys()...)
	}
	return keys
}
