package informer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// writer applies what comes out of the queue to the store and appends what
// that changed to the log. It runs on one goroutine. The informer's joining
// lock is held for each step, so that a handler can join between two.
type writer[K comparable] struct {
	informer *informer[K]
	detector *mutationDetector
	metrics  *informerMetrics
	logger   klog.Logger
	// changes are the single changes that are not applied yet.
	changes []store.Change[K]
	synced  bool
}

// takeBatch applies what is in the queue, as soon as something is. It returns
// false when ctx is done.
func (w *writer[K]) takeBatch(ctx context.Context, queue *deltafifo.DeltaFIFO[K]) bool {
	batch, err := queue.PopBatch(ctx)
	if err != nil {
		return false
	}
	taken := w.metrics.took(queue)
	for n := range batch {
		if ctx.Err() != nil {
			return false
		}
		w.take(&batch[n])
	}
	w.end(len(batch))
	w.metrics.observe(taken)
	return true
}

// take applies a delta.
func (w *writer[K]) take(d *deltafifo.Delta[K]) {
	switch d.Type {
	case deltafifo.ReplacedAll:
		w.replace(d.List.(*store.Replacement[K]), d.Version)
	case deltafifo.SyncAll:
		w.resync()
	case deltafifo.Bookmark:
		w.bookmark(d.Version)
	case deltafifo.Deleted:
		w.change(store.Change[K]{Type: store.Deleted, Key: d.Key, Object: d.Object, Version: d.Version})
	default:
		w.change(store.Change[K]{Type: store.Updated, Key: d.Key, Object: d.Object, Version: d.Version})
	}
}

// keepChanges is how many changes there is always room for: 7 KB at most.
const keepChanges = 64

// end applies what is pending of a batch of so many deltas.
func (w *writer[K]) end(batch int) {
	w.flush()
	if cap(w.changes) > keepChanges && batch < cap(w.changes)/8 {
		// The burst that they grew in is over.
		w.changes = nil
	}
}

// change adds a single change. It is applied at the latest by flush.
func (w *writer[K]) change(c store.Change[K]) {
	w.changes = append(w.changes, c)
	if len(w.changes) == nodeSize {
		w.flush()
	}
}

// flush applies the single changes that are pending. If an index function panics
// at one of them, and the process survives that, the others are made all the same.
func (w *writer[K]) flush() {
	if len(w.changes) == 0 {
		return
	}
	if all := w.changes; !w.apply() && len(all) > 1 {
		for i := range all {
			w.changes = all[i : i+1]
			w.apply()
		}
		w.changes = all
	}
	clear(w.changes)
	w.changes = w.changes[:0]
}

// apply makes the changes. It returns false if none of them was made.
func (w *writer[K]) apply() (applied bool) {
	w.step(func() {
		// A change that comes before the first list makes the informer synced:
		// its source has no list to wait for.
		w.sync()
		w.informer.store.Apply(w.changes)
		applied = true
		if audience := w.informer.audience.Load(); len(w.changes) == 1 {
			w.informer.log.appendChange(w.told(0), audience)
		} else {
			changes := make([]change, len(w.changes))
			for i := range changes {
				changes[i] = w.told(i)
			}
			w.informer.log.appendBatch(batch[K]{changes: changes, length: len(changes), audience: audience})
		}
	})
	return applied
}

// told returns what handlers are told of the applied change at i.
func (w *writer[K]) told(i int) change {
	c := &w.changes[i]
	k := kindOf(c)
	if k == deleted {
		// What the server sent is the final state; what was stored is older. It
		// is reported even if nothing was stored.
		return change{old: c.Object, kind: deleted}
	}
	w.detector.add(c.Object)
	if w.informer.isRecreation(c) {
		k = recreated
	}
	return change{c.Old, c.Object, k}
}

// replace makes the staged objects the store's only ones. The first time it
// completes the informer's sync. If an index function panics at one of them, and
// the process survives that, the others are stored all the same.
func (w *writer[K]) replace(staged *store.Replacement[K], resourceVersion string) {
	w.flush()
	if !w.commit(staged, resourceVersion) {
		w.exclude(staged)
		w.commit(staged, resourceVersion)
	}
}

// exclude leaves those objects as they are in the store, or out of it, at which
// index functions panic.
func (w *writer[K]) exclude(staged *store.Replacement[K]) {
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

// commit returns false if it changed nothing.
func (w *writer[K]) commit(staged *store.Replacement[K], resourceVersion string) (committed bool) {
	w.step(func() {
		changes := staged.Commit(resourceVersion)
		committed = true
		if w.detector != nil {
			for c := range changes.All() {
				if c.Type != store.Deleted {
					w.detector.add(c.Object)
				}
			}
		}
		initial := !w.synced
		if initial {
			w.synced = true
			close(w.informer.hasSynced)
		}
		w.informer.log.appendBatch(batch[K]{
			bulk: changes.All(), length: changes.Len(), audience: w.informer.audience.Load(), initial: initial, synced: initial,
		})
	})
	return committed
}

// resync reports every object to the handlers that resync.
func (w *writer[K]) resync() {
	w.flush()
	w.step(func() {
		snapshot := w.informer.store.Snapshot()
		if w.detector != nil {
			for _, obj := range snapshot.All() {
				w.detector.add(obj)
			}
		}
		w.informer.log.appendBatch(batch[K]{
			bulk: selfUpdates(snapshot), length: snapshot.Len(), audience: w.informer.audience.Load(), resync: true,
		})
	})
}

// bookmark records that the store is as the collection was at a version.
func (w *writer[K]) bookmark(resourceVersion string) {
	w.flush()
	w.informer.store.Bookmark(resourceVersion)
	w.reached()
}

// reached tells that the store may show a later version than before.
func (w *writer[K]) reached() {
	w.informer.waiters.release()
	if w.metrics != nil {
		w.metrics.version(w.informer.store.ResourceVersion())
	}
}

// sync marks the informer as synced without an initial list.
func (w *writer[K]) sync() {
	if w.synced {
		return
	}
	w.synced = true
	close(w.informer.hasSynced)
	w.informer.log.appendBatch(batch[K]{synced: true})
}

// step runs one step, then wakes the handlers. An index function may panic:
// where the process is configured to survive that, what the step would have
// changed is lost, and the writer pauses before the next.
func (w *writer[K]) step(do func()) {
	if crashed := w.try(do); crashed {
		time.Sleep(afterCrash)
	}
	w.reached()
	for _, r := range *w.informer.handlers.Load() {
		r.wake()
	}
}

func (w *writer[K]) try(do func()) (crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(w.logger)
	w.informer.joining.Lock()
	defer w.informer.joining.Unlock()
	do()
	return false
}

// isRecreation says whether a change is an object in place of another one of the
// same name, and is to be told as what it is.
func (i *informer[K]) isRecreation(c *store.Change[K]) bool {
	if !i.config.RecreationIsDeletion || c.Type != store.Updated {
		return false
	}
	before, now := uidOf(c.Old), uidOf(c.Object)
	return before != "" && now != "" && before != now
}

func uidOf(obj any) types.UID {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetUID()
}
