package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/informer"
)

// NewSharedInformer is [NewSharedIndexInformerWithOptions] with a resync period for handlers that name none.
func NewSharedInformer(
	lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration,
) SharedInformer {
	return NewSharedIndexInformer(lw, exampleObject, defaultEventHandlerResyncPeriod, Indexers{})
}

// NewSharedIndexInformer is [NewSharedInformer] with indexes.
func NewSharedIndexInformer(
	lw ListerWatcher, exampleObject runtime.Object, defaultEventHandlerResyncPeriod time.Duration,
	indexers Indexers,
) SharedIndexInformer {
	return NewSharedIndexInformerWithOptions(lw, exampleObject, SharedIndexInformerOptions{
		ResyncPeriod: defaultEventHandlerResyncPeriod,
		Indexers:     indexers,
	})
}

// NewSharedIndexInformerWithOptions returns an informer, of package informer, of the objects that lw lists
// and watches. It logs and drops events with objects of another type than exampleObject's, unless that is
// nil.
func NewSharedIndexInformerWithOptions(
	lw ListerWatcher, exampleObject runtime.Object, options SharedIndexInformerOptions,
) SharedIndexInformer {
	return informer.New(lw, exampleObject, options)
}

// NewTypedSharedIndexInformer returns i with typed handlers and indexes. They panic for objects of another
// type than T.
func NewTypedSharedIndexInformer[T Object](i SharedIndexInformer) TypedSharedIndexInformer[T] {
	return informer.Typed[T](i)
}
