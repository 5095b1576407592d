package engine

import (
	"iter"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// replace makes the staged objects the only ones of the store. The first call completes the informer's sync.
// If an index function panics at one of the objects and the process survives, replace stores the others.
//
// If in isn't nil, replace replaces only the objects for which in returns true: it drops other staged
// objects, notifies handlers of no others, and doesn't complete the informer's sync.
func (w *writer[K]) replace(staged *transforms.List[K], resourceVersion string, in func(any) bool) {
	w.flush()
	if in != nil {
		w.leaveOut(staged, in)
		w.stageRest(staged, in)
	}
	if !w.commit(staged, resourceVersion, in) {
		w.exclude(staged)
		w.commit(staged, resourceVersion, in)
	}
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

// stageRest stages the objects of the store for which in returns false.
func (w *writer[K]) stageRest(staged *transforms.List[K], in func(any) bool) {
	// Only after a transform has changed a key, names have to be merged.
	renamed := staged.Names.Changed() || w.names.Changed()
	var own []K
	kept := map[K]bool{}
	var origins map[K]K
	if renamed {
		own = staged.Keys()
		origins = w.names.Origins()
	}
	for c := range w.informer.store.Snapshot().Changes() {
		if in(c.Object) || isReplaced(staged, c, origins) {
			continue
		}
		staged.Set(c.Key, c.Object, c.Version)
		if renamed {
			kept[c.Key] = true
		}
	}
	staged.Names.Merge(&w.names, kept, own)
}

// isReplaced reports whether a staged object takes the place of a stored one that isn't of the list: one of
// the same name, or one that a transform gave the same key. That means that one of the two has been deleted:
// without versions the stored one, since lists are of the newest state, else the earlier one. isReplaced
// removes the staged one if it is the earlier. origins are the server's keys of stored objects, nil if no key
// was changed.
func isReplaced[K comparable](staged *transforms.List[K], stored store.Change[K], origins map[K]K) bool {
	keys := []K{stored.Key}
	from, ok := origins[stored.Key]
	if !ok {
		from = stored.Key
	}
	if key, ok := staged.Names.Of(from); ok && key != stored.Key {
		keys = append(keys, key)
	}
	for _, key := range keys {
		_, version, ok := staged.Lookup(key)
		if ok && !isEarlier(version, stored.Version) {
			return true
		}
		if ok {
			staged.Delete(key)
		}
	}
	return false
}

// isEarlier reports whether version a is before b.
func isEarlier(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// commit makes the staged objects the store's in one step. It returns false if an index
// function panicked. The store is then unchanged.
func (w *writer[K]) commit(
	staged *transforms.List[K], resourceVersion string, in func(any) bool,
) (committed bool) {
	w.step(func() {
		changes := staged.Commit(resourceVersion)
		committed, w.names = true, staged.Names
		all, length := changes.All(), changes.Len()
		if in != nil {
			all, length = changesIn(all, in)
		}
		if w.detector != nil {
			for c := range all {
				if c.Type != store.Deleted {
					w.detector.add(c.Object)
				}
			}
		}
		initial := !w.synced
		completes := initial && in == nil
		if completes {
			w.synced = true
			close(w.informer.hasSynced)
		}
		w.informer.log.appendBatch(batch[K]{
			bulk: all, length: length, resyncing: w.informer.resyncing.Load(),
			initial: initial, synced: completes,
		})
	})
	if committed {
		w.informer.observers.each(observe.Observer.Replaced)
	}
	return committed
}

// changesIn returns the changes of objects for which in returns true, all deletions, and their number. What a
// list deletes is of its part, or was replaced by an object of the list.
func changesIn[K comparable](
	all iter.Seq[store.Change[K]], in func(any) bool,
) (iter.Seq[store.Change[K]], int) {
	some := func(yield func(store.Change[K]) bool) {
		for c := range all {
			if (c.Type == store.Deleted || in(c.Object)) && !yield(c) {
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

// exclude removes the objects at which an index function panics from the staged ones,
// so that their state in the store stays.
func (w *writer[K]) exclude(staged *transforms.List[K]) {
	var bad []K
	staged.Each(func(key K, object any, _ string) {
		if crashed := w.try(func() { staged.Check(object) }); crashed {
			bad = append(bad, key)
		}
	})
	for _, key := range bad {
		if object, version, ok := w.informer.store.Lookup(key); ok {
			staged.Set(key, object, version)
		} else {
			staged.Delete(key)
		}
	}
}

// release removes the objects for which kept returns false from the store. Handlers receive them as released,
// not as deleted.
func (w *writer[K]) release(kept func(any) bool) {
	out := map[K]bool{}
	w.deleteAs(released, func() {
		for c := range w.informer.store.Snapshot().Changes() {
			if !kept(c.Object) {
				out[c.Key] = true
				w.change(store.Change[K]{Type: store.Deleted, Key: c.Key})
			}
		}
	})
	w.names.ForgetStored(out)
	w.informer.observers.each(func(o observe.Observer) { o.Released(kept) })
}

// applyFromStream applies an event of one of several streams, see [Sink]. An object and its successor of the
// same name may come from different streams, in any order: the later version is kept. The deletion of one
// doesn't delete the other, even if they have no versions, as with fake clientsets.
func (w *writer[K]) applyFromStream(a arrival[K], sameStream func(stored any) bool) {
	if key, ok := w.names.Of(a.From); ok {
		old, version, ok := w.informer.store.Lookup(key)
		if ok && !sameStream(old) && (a.deleted || isEarlier(a.version, version)) {
			return
		}
	}
	w.applyArrival(a)
	w.flush()
}
