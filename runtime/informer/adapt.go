package informer

import "k8s.io/client-go/tools/cache"

// untyped calls a client-go handler, with tombstones as client-go has them.
type untyped[K comparable, T any] struct {
	handler cache.ResourceEventHandler
	key     func(K) string
}

func (u untyped[K, T]) OnAdd(obj T, isInInitialList bool) { u.handler.OnAdd(obj, isInInitialList) }
func (u untyped[K, T]) OnUpdate(oldObj, newObj T)         { u.handler.OnUpdate(oldObj, newObj) }

func (u untyped[K, T]) OnDelete(gone Deleted[K, T]) {
	if gone.Missed {
		u.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: u.key(gone.Key), Obj: gone.Object})
		return
	}
	u.handler.OnDelete(gone.Object)
}

// asserting is a typed handler for an informer that knows no types. An object of
// another type makes it panic.
type asserting[T cache.Object] struct {
	handler cache.TypedResourceEventHandler[T]
}

func (a *asserting[T]) OnAdd(obj any, isInInitialList bool) {
	a.handler.OnAdd(obj.(T), isInInitialList)
}

func (a *asserting[T]) OnUpdate(oldObj, newObj any) {
	a.handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (a *asserting[T]) OnDelete(obj any) {
	tombstone := tombstoneOf(obj)
	if tombstone == nil {
		a.handler.OnDelete(cache.DeletedObject[T]{OptionalObj: obj.(T)})
		return
	}
	deleted := cache.DeletedObject[T]{FinalStateUnknown: tombstone}
	if tombstone.Obj != nil {
		deleted.OptionalObj = tombstone.Obj.(T)
	}
	a.handler.OnDelete(deleted)
}

// tombstoneOf returns a copy of the tombstone that stands for an object, nil if
// it is the object itself.
func tombstoneOf(obj any) *cache.DeletedFinalStateUnknown {
	tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		return nil
	}
	copied := tombstone
	return &copied
}
