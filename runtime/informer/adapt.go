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

// typed calls a client-go handler for objects of one type, which are never
// boxed on the way but for tombstones.
type typed[T cache.Object] struct {
	handler cache.TypedResourceEventHandler[T]
}

func (t typed[T]) OnAdd(obj T, isInInitialList bool) { t.handler.OnAdd(obj, isInInitialList) }
func (t typed[T]) OnUpdate(oldObj, newObj T)         { t.handler.OnUpdate(oldObj, newObj) }

func (t typed[T]) OnDelete(gone Deleted[cache.ObjectName, T]) {
	deleted := cache.DeletedObject[T]{OptionalObj: gone.Object}
	if gone.Missed {
		deleted.FinalStateUnknown = &cache.DeletedFinalStateUnknown{Key: gone.Key.String(), Obj: gone.Object}
	}
	t.handler.OnDelete(deleted)
}

// asserting is a typed handler for an informer that knows no types.
type asserting[T cache.Object] struct {
	handler cache.TypedResourceEventHandler[T]
}

func (a asserting[T]) OnAdd(obj any, isInInitialList bool) {
	a.handler.OnAdd(obj.(T), isInInitialList)
}

func (a asserting[T]) OnUpdate(oldObj, newObj any) {
	a.handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (a asserting[T]) OnDelete(obj any) {
	tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
	if !ok {
		a.handler.OnDelete(cache.DeletedObject[T]{OptionalObj: obj.(T)})
		return
	}
	deleted := cache.DeletedObject[T]{FinalStateUnknown: &tombstone}
	if tombstone.Obj != nil {
		deleted.OptionalObj = tombstone.Obj.(T)
	}
	a.handler.OnDelete(deleted)
}
