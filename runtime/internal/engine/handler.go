package engine

import (
	"errors"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// errNilHandler is returned for a nil handler, in place of a panic at its first event.
var errNilHandler = errors.New("the handler is nil")

// handler is notified of every change of an informer's store, one call at a time,
// in the order in which the store changed. Objects are shared with the store
// and with other handlers: they must not be modified.
type handler[K comparable] interface {
	// OnAdd is called for a new object. isInInitialList is true for objects of the
	// first list, and for those that the store held when the handler was registered.
	OnAdd(obj any, isInInitialList bool)
	// OnUpdate is called for an object that replaced another. States in between may have been missed. In a
	// resync both are the same.
	OnUpdate(oldObj, newObj any)
	// OnDelete is called for an object that was deleted or released.
	OnDelete(gone deletion[K])
}

// deletion describes a deleted or released object.
type deletion[K comparable] struct {
	// Object is the state in which the server deleted the object or, if Missed or
	// Released is set or that state isn't one of this key, the last state in the store.
	Object any
	// Missed is set if the last state of the object is unknown: a list no longer contained the object, or the
	// transform failed for it.
	Missed bool
	// Released is set if the object wasn't deleted, but left the informer's [Selection].
	Released bool
	// Key is the key of the object. It is set only if Missed is.
	Key K
}

// clientGoHandler adapts a client-go handler: missed deletions become client-go's tombstones.
type clientGoHandler[K comparable] struct {
	handler cache.ResourceEventHandler
	key     func(K) string
}

func (h clientGoHandler[K]) OnAdd(obj any, isInInitialList bool) {
	h.handler.OnAdd(obj, isInInitialList)
}

func (h clientGoHandler[K]) OnUpdate(oldObj, newObj any) { h.handler.OnUpdate(oldObj, newObj) }

func (h clientGoHandler[K]) OnDelete(gone deletion[K]) {
	switch {
	case gone.Released:
		if h, ok := h.handler.(unwrap.ReleaseHandler[any]); ok {
			h.OnRelease(gone.Object)
		}
	case gone.Missed:
		h.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: h.key(gone.Key), Obj: gone.Object})
	default:
		h.handler.OnDelete(gone.Object)
	}
}
