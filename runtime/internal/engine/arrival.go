package engine

import (
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// arrival is an event of the server, with what a transform made of its object.
type arrival[K comparable] struct {
	transforms.Result[K]
	// deleted is set if the server deleted the object, missed if the transform failed for its last state.
	deleted, missed bool
	version         string
}

// applyArrival applies an event of an object that may be stored under another key than the server's, or not
// be cached.
func (w *writer[K]) applyArrival(a arrival[K]) {
	switch {
	case a.deleted, a.Object == nil:
		w.deleteArrival(a)
	default:
		if old, moved := w.names.Put(a.From, a.Key, w.keys); moved {
			w.changes = append(w.changes, store.Change[K]{Type: store.Deleted, Key: old})
		}
		w.change(store.Change[K]{Type: store.Updated, Key: a.Key, Object: a.Object, Version: a.version})
	}
}

// isMove reports whether the first two changes are the deletion and the addition of an object whose key has
// changed.
func isMove[K comparable](changes []store.Change[K]) bool {
	return len(changes) > 1 && changes[0].Type == store.Deleted && changes[0].Object == nil &&
		changes[0].Version == "" && changes[1].Type != store.Deleted
}

// deleteArrival deletes an object. The deletion has the final state of the object only if that has the key
// under which the object is stored.
func (w *writer[K]) deleteArrival(a arrival[K]) {
	key, stored := w.names.Of(a.From)
	if a.Object != nil && key != a.Key && stored && !w.names.Changed() {
		// Nobody knows if the object is stored, since no key was ever changed.
		w.flush()
		_, _, stored = w.informer.store.Lookup(key)
	}
	w.names.Forget(a.From)
	c := store.Change[K]{Type: store.Deleted, Key: a.Key, Object: a.Object, Version: a.version}
	switch {
	case stored && key != a.Key:
		c.Key, c.Object = key, nil
	case !stored && a.Object == nil:
		w.flush()
		w.informer.store.Observe(a.version)
		w.announceVersion()
		return
	}
	if !a.missed {
		w.change(c)
		return
	}
	w.deleteAs(missed, func() { w.change(c) })
}

// deleteAs makes the deletions without a final state that do adds to the changes be reported as k.
func (w *writer[K]) deleteAs(k kind, do func()) {
	w.flush()
	w.deletionKind = k
	defer func() { w.deletionKind = deleted }()
	do()
	w.flush()
}

// keys returns all keys in the store.
func (w *writer[K]) keys() []K {
	w.flush()
	return w.informer.store.Snapshot().Keys()
}
