package informer

import "unsafe"

// What waits for handlers is objects, two a change. Where T is an interface, as
// the any of generated informers, the objects of an informer are nevertheless of
// one type: then a backlog holds pointers to them, and their type once, which is
// half as much. Objects of several types, and those of a T that is no interface,
// are kept as they are.

// words are the two of an interface value, of whichever type: what says the type
// of its object, and what points to the object. Both are pointers to the garbage
// collector, too.
type words struct{ objectType, object unsafe.Pointer }

// packs says whether a T consists of words.
func packs[T any]() bool {
	var none T
	return any(none) == nil
}

// split and join are for a T that packs.
func split[T any](obj *T) words { return *(*words)(unsafe.Pointer(obj)) }

func join[T any](w words) (obj T) {
	*(*words)(unsafe.Pointer(&obj)) = w
	return obj
}

// pair is the old and the new object of a change, without their type.
type pair [2]unsafe.Pointer

// pack takes the objects of a change apart, of a T that packs. ok is false if
// they are of two types.
func pack[T any](k kind, old, new T) (objects pair, objectType unsafe.Pointer, ok bool) {
	before, after := split(&old), split(&new)
	switch k {
	case added:
		before.objectType = after.objectType
	case deleted:
		after.objectType = before.objectType
	}
	return pair{before.object, after.object}, after.objectType, before.objectType == after.objectType
}

// run is a sequence of changes.
type run[T any] struct {
	// kind is that of all changes, unless kinds has one for each.
	kind  kind
	kinds []kind
	// packed has the objects as long as all are of objectType, else plain.
	packed     []pair
	objectType unsafe.Pointer
	plain      [][2]T
}

func newRun[T any](length int) *run[T] {
	if packs[T]() {
		return &run[T]{packed: make([]pair, length)}
	}
	return &run[T]{plain: make([][2]T, length)}
}

// put writes the change at i. Those before were written.
func (r *run[T]) put(i int, k kind, old, new T) {
	r.putKind(i, k)
	if r.packed != nil {
		objects, objectType, ok := pack(k, old, new)
		if i == 0 {
			r.objectType = objectType
		}
		if ok && objectType == r.objectType {
			r.packed[i] = objects
			return
		}
		r.unpack(i)
	}
	r.plain[i] = [2]T{old, new}
}

func (r *run[T]) putKind(i int, k kind) {
	if i == 0 {
		r.kind = k
	}
	if r.kinds == nil && k != r.kind {
		r.kinds = make([]kind, max(len(r.packed), len(r.plain)))
		for before := range i {
			r.kinds[before] = r.kind
		}
	}
	if r.kinds != nil {
		r.kinds[i] = k
	}
}

// unpack goes over to objects of several types after so many changes.
func (r *run[T]) unpack(written int) {
	plain := make([][2]T, len(r.packed))
	for i := range written {
		plain[i][0], plain[i][1] = r.objects(i)
	}
	r.packed, r.plain = nil, plain
}

// kindOf returns the kind of the change at i. It and objects are what handlers'
// readers do for every change: they are so short that they are inlined.
func (r *run[T]) kindOf(i int) kind {
	if r.kinds == nil {
		return r.kind
	}
	return r.kinds[i]
}

// objects returns the objects of the change at i. The one that a change of its
// kind doesn't have may be anything.
func (r *run[T]) objects(i int) (old, new T) {
	if r.packed == nil {
		return r.plain[i][0], r.plain[i][1]
	}
	return join[T](words{r.objectType, r.packed[i][0]}), join[T](words{r.objectType, r.packed[i][1]})
}
