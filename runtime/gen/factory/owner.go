package factory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Handle is embedded in generated factories, so that package runtime/factory finds the Set behind the
// factory. It has no exported methods, so that the factory has only upstream's.
type Handle struct{ of Owner }

func (h Handle) owner() Owner { return h.of }

// Owner is a [Set] with any type of key, as package runtime/factory sees it.
type Owner interface {
	// Informers returns the informers that the set has started, and the others.
	Informers() (started, others []cache.SharedIndexInformer)
	// Hold and Release count the users of an informer.
	Hold(cache.SharedInformer) error
	Release(cache.SharedInformer) error
	// OnCreate adds a function for new informers, Decode changes how they decode objects. Both return an error
	// if the set has informers already; function is the name for it.
	OnCreate(setUp func(cache.SharedIndexInformer) error) error
	Decode(function string, change func(*Decoding)) error
	// Tweak adds a change of the list options of the informer of a key.
	Tweak(key any, tweak func(*metav1.ListOptions)) error

	tweaksOf(key any) []func(*metav1.ListOptions)
}

// OwnerOf returns the set behind a factory. ok is false if the factory has none.
func OwnerOf(f any) (o Owner, ok bool) {
	owned, ok := f.(interface{ owner() Owner })
	if !ok || owned.owner() == nil {
		return nil, false
	}
	return owned.owner(), true
}
