package informer

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// The writer runs these methods for informers with a Part only, in the order of the queue.

// changeMixed applies a change while changes come from several streams. An object and its successor of the
// same name may come from different streams, in any order: the later version is kept. The deletion of one
// doesn't delete the other, even if they have no versions, as with fake clientsets.
func (w *writer[K]) changeMixed(c store.Change[K], hash func(any) uint64) {
	if old, version, ok := w.informer.store.Lookup(c.Key); ok &&
		hash(old) != hash(c.Object) && (c.Type == store.Deleted || isEarlier(c.Version, version)) {
		return
	}
	w.change(c)
	w.flush()
}

// isEarlier reports whether version a is before b.
func isEarlier(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// replacePart makes the staged objects the only ones in the store for which in returns true. It drops staged
// objects for which in returns false. Handlers are notified only of objects for which in returns true.
func (w *writer[K]) replacePart(staged *store.Replacement[K], in func(any) bool, resourceVersion string) {
	w.leaveOut(staged, in)
	for c := range w.informer.store.Snapshot().Changes() {
		if in(c.Object) {
			continue
		}
		// A staged object of the same name means that one of the two has been deleted. Without versions it is
		// the stored one, since lists are of the newest state.
		if _, version, ok := staged.Lookup(c.Key); ok && !isEarlier(version, c.Version) {
			continue
		}
		staged.Set(c.Key, c.Object, c.Version)
	}
	w.replaceIn(staged, resourceVersion, in)
}

// changesIn returns the changes of objects for which in returns true, and their number.
func changesIn[K comparable](
	all iter.Seq[store.Change[K]], in func(any) bool,
) (iter.Seq[store.Change[K]], int) {
	some := func(yield func(store.Change[K]) bool) {
		for c := range all {
			object := c.Object
			if c.Type == store.Deleted {
				object = c.Old
			}
			if in(object) && !yield(c) {
				return
			}
		}
	}
	length := 0
	for range some {
		length++
	}
	return some, length
}

// leaveOut removes the staged objects for which in returns false.
func (w *writer[K]) leaveOut(staged *store.Replacement[K], in func(any) bool) {
	var out []K
	staged.Each(func(key K, object any, _ string) {
		if !in(object) {
			out = append(out, key)
		}
	})
	for _, key := range out {
		staged.Delete(key)
	}
}

// release removes the objects for which kept returns false from the store. Handlers receive them as released,
// not as deleted.
func (w *writer[K]) release(kept func(any) bool) {
	w.releasing = true
	defer func() { w.releasing = false }()
	for c := range w.informer.store.Snapshot().Changes() {
		if !kept(c.Object) {
			w.change(store.Change[K]{Type: store.Deleted, Key: c.Key, Object: c.Object})
		}
	}
	w.flush()
}

// complete marks the informer as synced. It is called when the objects of all wanted ranges are in the store.
func (w *writer[K]) complete() { w.step(w.markSynced) }
