package engine

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// The writer runs these methods for informers with a Part only, in the order of the queue.

// arriveMixed applies an event while changes come from several streams. hash is that of the event's object,
// of that of stored objects. An object and its successor of the same name may come from different streams,
// in any order: the later version is kept. The deletion of one doesn't delete the other, even if they have
// no versions, as with fake clientsets.
func (w *writer[K]) arriveMixed(a arrival[K], hash uint64, of func(any) uint64) {
	if key, ok := w.names.Of(a.From); ok {
		old, version, ok := w.informer.store.Lookup(key)
		if ok && of(old) != hash && (a.deleted || isEarlier(a.version, version)) {
			return
		}
	}
	w.arrive(a)
	w.flush()
}

// isEarlier reports whether version a is before b.
func isEarlier(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// replacePart makes the staged objects the only ones in the store for which in returns true. It drops staged
// objects for which in returns false. Handlers are notified only of objects for which in returns true.
func (w *writer[K]) replacePart(staged *transforms.List[K], in func(any) bool, resourceVersion string) {
	w.leaveOut(staged, in)
	// Only after a transform has changed a key, names have to be merged.
	renamed := staged.Names.Changed() || w.names.Changed()
	var own []K
	kept := map[K]bool{}
	if renamed {
		own = staged.Keys()
	}
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
		if renamed {
			kept[c.Key] = true
		}
	}
	staged.Names.Merge(&w.names, kept, own)
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
func (w *writer[K]) leaveOut(staged *transforms.List[K], in func(any) bool) {
	out := map[K]bool{}
	staged.Each(func(key K, object any, _ string) {
		if !in(object) {
			out[key] = true
		}
	})
	for key := range out {
		staged.Delete(key)
	}
	staged.Names.ForgetStored(out)
}

// release removes the objects for which kept returns false from the store. Handlers receive them as released,
// not as deleted.
func (w *writer[K]) release(kept func(any) bool) {
	out := map[K]bool{}
	w.leaveAs(released, func() {
		for c := range w.informer.store.Snapshot().Changes() {
			if !kept(c.Object) {
				out[c.Key] = true
				w.change(store.Change[K]{Type: store.Deleted, Key: c.Key})
			}
		}
	})
	w.names.ForgetStored(out)
}

// complete marks the informer as synced. It is called when the objects of all wanted ranges are in the store.
func (w *writer[K]) complete() { w.step(w.markSynced) }
