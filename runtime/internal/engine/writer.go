package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// writer applies the deltas of the queue to the store and appends what they changed
// to the log. It runs on one goroutine. It holds the informer's joining lock for one
// step at a time, so that a handler can join between two steps.
type writer[K comparable] struct {
	informer *engine[K]
	detector *mutationDetector
	metrics  *informerMetrics
	logger   klog.Logger
	// changes are the single changes that have yet to be applied.
	changes []store.Change[K]
	synced  bool
	// names are those of the objects in the store, with the changes that have yet to be applied.
	names transforms.Names[K]
	// deletionKind is how deletions in changes without a final state are reported.
	deletionKind kind
}

// applyBatch waits until the queue holds something and applies all of it. It returns
// false when ctx is done.
func (w *writer[K]) applyBatch(ctx context.Context, queue *deltafifo.DeltaFIFO[K]) bool {
	batch, err := queue.PopBatch(ctx)
	if err != nil {
		return false
	}
	taken := w.metrics.took(queue)
	for n := range batch {
		if ctx.Err() != nil {
			return false
		}
		w.applyDelta(&batch[n])
	}
	w.endBatch(len(batch))
	w.metrics.observe(taken)
	return true
}

// applyDelta applies a delta.
func (w *writer[K]) applyDelta(d *deltafifo.Delta[K]) {
	switch d.Type {
	case deltafifo.ReplacedAll:
		w.replace(d.List.(*transforms.List[K]), d.Version, nil)
	case deltafifo.SyncAll:
		w.resync()
	case deltafifo.Bookmark:
		w.bookmark(d.Version)
	case deltafifo.Call:
		w.flush()
		d.Object.(func(*writer[K]))(w)
	default:
		w.applyChange(d)
	}
}

// applyChange applies a change of one object.
func (w *writer[K]) applyChange(d *deltafifo.Delta[K]) {
	switch {
	case d.Object == nil || w.names.Changed():
		w.applyArrival(arrival[K]{Result: transforms.Result[K]{From: d.Key, Key: d.Key, Object: d.Object},
			deleted: d.Type == deltafifo.Deleted, version: d.Version})
	case d.Type == deltafifo.Deleted:
		w.change(store.Change[K]{Type: store.Deleted, Key: d.Key, Object: d.Object, Version: d.Version})
	default:
		w.change(store.Change[K]{Type: store.Updated, Key: d.Key, Object: d.Object, Version: d.Version})
	}
}

// keepChanges is the capacity up to which the buffer of changes is kept: 7 KB at most.
const keepChanges = 64

// endBatch applies the pending changes of a batch. batch is the number of its deltas.
func (w *writer[K]) endBatch(batch int) {
	w.flush()
	if cap(w.changes) > keepChanges && batch < cap(w.changes)/8 {
		// The buffer grew in a burst, which is over.
		w.changes = nil
	}
}

// change adds a single change to those that the next flush applies.
func (w *writer[K]) change(c store.Change[K]) {
	w.changes = append(w.changes, c)
	if len(w.changes) >= nodeSize {
		w.flush()
	}
}

// flush applies the pending changes together. If an index function panics at one of
// them and the process survives, flush applies the others one by one. The two changes
// of an object whose key has changed stay together.
func (w *writer[K]) flush() {
	if len(w.changes) == 0 {
		return
	}
	if all := w.changes; !w.apply() && len(all) > 1 {
		for rest := all; len(rest) > 0; rest = rest[len(w.changes):] {
			w.changes = rest[:1]
			if isMove(rest) {
				w.changes = rest[:2]
			}
			w.apply()
		}
		w.changes = all
	}
	clear(w.changes)
	w.changes = w.changes[:0]
}

// apply applies w.changes in one step. It returns false if it applied none.
func (w *writer[K]) apply() (applied bool) {
	w.step(func() {
		// A change before the first list means that the source has no initial list. The reader of a
		// selection says itself when the informer has synced.
		if w.informer.selection == nil {
			w.markSynced()
		}
		w.informer.store.Apply(w.changes)
		applied = true
		if resyncing := w.informer.resyncing.Load(); len(w.changes) == 1 {
			if c, ok := w.notification(0); ok {
				w.informer.log.appendChange(c, resyncing)
			}
		} else {
			changes := make([]change, 0, len(w.changes))
			for i := range w.changes {
				if c, ok := w.notification(i); ok {
					changes = append(changes, c)
				}
			}
			if len(changes) > 0 {
				w.informer.log.appendBatch(batch[K]{changes: changes, length: len(changes), resyncing: resyncing})
			}
		}
	})
	if applied {
		w.informer.tellRemovals(w.changes)
	}
	return applied
}

// notification returns the change that handlers receive for the applied change at i, if they receive one.
func (w *writer[K]) notification(i int) (c change, ok bool) {
	applied := &w.changes[i]
	k := kindOf(applied)
	switch {
	case k != deleted:
	case applied.Object == nil:
		return change{old: applied.Old, kind: w.deletionKind}, applied.Old != nil
	default:
		// The object, which the server sent, is the final state; the old one, which was
		// stored, is older. The deletion is reported even if nothing was stored.
		return change{old: applied.Object, kind: deleted}, true
	}
	w.detector.add(applied.Object)
	if w.informer.isRecreation(applied) {
		k = recreated
	}
	return change{applied.Old, applied.Object, k}, true
}

// resync appends an update of every object to itself, for the handlers that resync.
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
			bulk: selfUpdates(snapshot), length: snapshot.Len(),
			resyncing: w.informer.resyncing.Load(), resync: true,
		})
	})
}

// bookmark records that the store reflects the collection at resourceVersion.
func (w *writer[K]) bookmark(resourceVersion string) {
	w.flush()
	w.informer.store.Bookmark(resourceVersion)
	w.announceVersion()
}

// announceVersion updates the waits and the metric that depend on the version of the
// store, which may have changed.
func (w *writer[K]) announceVersion() {
	w.informer.waiters.release()
	w.informer.tellVersion()
	w.metrics.version(w.informer.store)
}

// markSynced marks the informer as synced without an initial list, once.
func (w *writer[K]) markSynced() {
	if w.synced {
		return
	}
	w.synced = true
	close(w.informer.hasSynced)
	w.informer.log.appendBatch(batch[K]{synced: true})
}

// step runs one step, then wakes the handlers. If an index function panics and the
// process survives, the step changes nothing and the writer pauses.
func (w *writer[K]) step(do func()) {
	if crashed := w.try(do); crashed {
		time.Sleep(afterCrash)
	}
	w.announceVersion()
	for _, r := range *w.informer.handlers.Load() {
		r.wake()
	}
}

// try runs do under the joining lock and reports whether it panicked.
func (w *writer[K]) try(do func()) (crashed bool) {
	crashed = true
	defer utilruntime.HandleCrashWithLogger(w.logger)
	w.informer.joining.Lock()
	defer w.informer.joining.Unlock()
	do()
	return false
}

// isRecreation reports whether a change replaced an object by another one of the same
// name, and is to be reported as a deletion and an addition.
func (i *engine[K]) isRecreation(c *store.Change[K]) bool {
	if !i.config.Options.RecreationIsDeletion || c.Type != store.Updated {
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
