package factory

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// Handle is embedded in generated factories, so that package runtime/factory finds the Set behind the
// factory. It has no exported methods, so that the factory has only upstream's.
type Handle struct{ of Owner }

func (h Handle) owner() Owner { return h.of }

// Owner is a [Set] with any type of key, as package runtime/factory sees it.
type Owner interface {
	// Informers returns the informers that the set has started, and the others.
	Informers() (started, others []cache.SharedIndexInformer)
	// Retain and Release count the users of an informer.
	Retain(cache.SharedInformer) error
	Release(cache.SharedInformer) error
	// Configure sets the options of all informers. It returns an error if the set has informers already.
	Configure(informer.Options) error
}

// OwnerOf returns the set behind a factory. ok is false if the factory has none.
func OwnerOf(f any) (o Owner, ok bool) {
	owned, ok := f.(interface{ owner() Owner })
	if !ok || owned.owner() == nil {
		return nil, false
	}
	return owned.owner(), true
}
