package informer

import (
	"time"

	"k8s.io/klog/v2"
)

// Handler is told of every change of an informer's store, one call at a time,
// in the order in which the store changed. Objects are shared with the store
// and with other handlers: they must not be modified.
type Handler[K comparable, T any] interface {
	// OnAdd is called for an object that is new. isInInitialList is true for
	// what the first list brought, and for what the store held already when
	// the handler was registered.
	OnAdd(obj T, isInInitialList bool)
	// OnUpdate is called for an object that took the place of another; changes
	// between the two may have been missed. On a resync both are the same.
	OnUpdate(oldObj, newObj T)
	// OnDelete is called for an object that is gone.
	OnDelete(gone Deleted[K, T])
}

// Deleted says what is known of an object that is gone.
type Deleted[K comparable, T any] struct {
	// Object is the state in which the server deleted the object, or, with
	// Missed, the last state that the informer knew.
	Object T
	// Missed says that the deletion itself was not seen: a list no longer
	// contained the object.
	Missed bool
	// Key is the key of the object. It is set only with Missed.
	Key K
}

// HandlerOptions adjust a registration. The zero value is fine.
type HandlerOptions struct {
	// Name is the handler's in logs and in the name of its HasSyncedChecker.
	Name string
	// Logger is where warnings about the handler go. The default is
	// klog.Background().
	Logger *klog.Logger
	// ResyncPeriod is how often the handler wants an update of every object in
	// the store: never if zero, as often as the informer's default if nil. The
	// informer may do it less often, see [Informer.AddHandler].
	ResyncPeriod *time.Duration
	// Coalesce bounds the backlog by the number of objects: changes of one
	// object that the handler has not been told of yet become one. It then sees
	// the latest state of each object, in the order in which they first changed,
	// but not every state in between; an object that came and went meanwhile is
	// not reported at all. An object that was deleted and created again is
	// reported as both.
	Coalesce bool
	// ContainPanics goes on with the next notification when the handler has
	// panicked, whatever utilruntime says of panics. The panic is handled as an
	// error by utilruntime, with the handler's name, and counted, see
	// [Registration.Panics].
	ContainPanics bool
}

// HandlerFuncs is a handler made of functions, any of which may be nil.
type HandlerFuncs[K comparable, T any] struct {
	Added   func(obj T, isInInitialList bool)
	Updated func(oldObj, newObj T)
	Deleted func(gone Deleted[K, T])
}

// OnAdd calls Added.
func (f HandlerFuncs[K, T]) OnAdd(obj T, isInInitialList bool) {
	if f.Added != nil {
		f.Added(obj, isInInitialList)
	}
}

// OnUpdate calls Updated.
func (f HandlerFuncs[K, T]) OnUpdate(oldObj, newObj T) {
	if f.Updated != nil {
		f.Updated(oldObj, newObj)
	}
}

// OnDelete calls Deleted.
func (f HandlerFuncs[K, T]) OnDelete(gone Deleted[K, T]) {
	if f.Deleted != nil {
		f.Deleted(gone)
	}
}
