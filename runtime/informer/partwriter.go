package informer

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/store"
)

// What the writer does for informers of a part only. Each runs in the order of the queue.

// changeMixed applies a change while changes come from several streams. Two objects of one name, one after
// the other, may come from two of them: then the later version counts, whichever arrives first. The deletion
// of one is none of the other, even if they have no versions, as with fake clientsets.
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

// replacePart makes the staged objects the only ones of those that are in a part. What is staged and isn't in
// it is left out. Handlers hear of the part only.
func (w *writer[K]) replacePart(staged *store.Replacement[K], in func(any) bool, resourceVersion string) {
	w.leaveOut(staged, in)
	for c := range w.informer.store.Snapshot().Changes() {
		if in(c.Object) {
			continue
		}
		// An object of the same name has been deleted, or this one has. Without versions it is this one, for
		// lists are of the newest state.
		if _, version, ok := staged.Lookup(c.Key); ok && !isEarlier(version, c.Version) {
			continue
		}
		staged.Set(c.Key, c.Object, c.Version)
	}
	w.replaceIn(staged, resourceVersion, in)
}

// changesIn returns the changes that put an object of a part into the store, or take one out, and their
// number.
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

// leaveOut takes back what is staged and isn't in the part.
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

// release takes out what isn't kept. Handlers don't hear of a deletion.
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

// complete marks the informer as synced: all ranges that it was given are there.
func (w *writer[K]) complete() { w.step(w.markSynced) }
