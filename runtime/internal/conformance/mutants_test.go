package conformance_test

import (
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"store: an index isn't updated": planted.In("(*generation).put",
		"x.update(p.slot, values[i])", "if !BUG { x.update(p.slot, values[i]) }"),
	"store: what moves into a gap isn't found": planted.In("store.(*table).remove",
		"t.tags[slot] = t.tags[last]", "if !BUG { t.tags[slot] = t.tags[last] }"),
	"store: snapshots change": planted.In("(*pages).owns",
		"return !ps.shared.Load() && (", "return BUG || !ps.shared.Load() && ("),
	"store: a list deletes nothing": planted.In("store.compare",
		"if !kept {", "if !kept && !BUG {"),
	"store: a list leaves the version as it was": planted.In("(*Replacement).Commit",
		"s.live, s.version = next, resourceVersion",
		"if s.live = next; !BUG { s.version = resourceVersion }"),

	"deltafifo: the end of a batch is lost": planted.In("(*DeltaFIFO).PopBatch",
		"f.pending, f.lent = f.lent, f.pending",
		"f.pending, f.lent = f.lent, f.pending; if BUG && len(f.lent) > 1 { f.lent = f.lent[:len(f.lent)-1] }"),
	"deltafifo: two deltas are swapped": planted.In("(*DeltaFIFO).Append",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version; if BUG && n > 0 { "+
			"f.pending[n-1], f.pending[n] = f.pending[n], f.pending[n-1] }"),
	"deltafifo: a bookmark is lost": planted.In("(*DeltaFIFO).Bookmark",
		"f.append(Delta[K]{Type: Bookmark, Version: version})",
		"if !BUG { f.append(Delta[K]{Type: Bookmark, Version: version}) }"),
	"deltafifo: the version of a list is lost": planted.In("deltafifo.(*DeltaFIFO).Replace",
		"f.append(Delta[K]{Type: ReplacedAll, List: list, Version: version})",
		"if BUG { version = \"\" }; f.append(Delta[K]{Type: ReplacedAll, List: list, Version: version})"),
	"deltafifo: a resync is lost": planted.In("(*DeltaFIFO).SyncAll",
		"f.append(Delta[K]{Type: SyncAll})", "if !BUG { f.append(Delta[K]{Type: SyncAll}) }"),

	"cache: of two deletions the wrong one is kept": planted.In("(*DeltaFIFO).queue",
		"if isTombstone(newest.Object) {", "if isTombstone(newest.Object) != BUG {"),
	"cache: a resync of what is queued": planted.In("(*DeltaFIFO).Resync",
		"if _, queued := f.items[key]; !queued {", "if _, queued := f.items[key]; !queued || BUG {"),
	"cache: a key that was taken is thought to be queued": planted.In("(*DeltaFIFO).Pop",
		"delete(f.items, key)", "if !BUG { delete(f.items, key) }"),
	"cache: a list deletes nothing that is queued": planted.In("cache.(*DeltaFIFO).Replace",
		"for _, key := range queued {", "for _, key := range queued { if BUG { break }"),
	"cache: a list deletes nothing that is known": planted.In("cache.(*DeltaFIFO).Replace",
		"f.eachKnown(deleteUnlisted)", "if !BUG { f.eachKnown(deleteUnlisted) }"),

	"reflector: events don't move the position": planted.In("watching.step",
		"before := r.position.set(e.ResourceVersion)",
		`before := ""; if !BUG { before = r.position.set(e.ResourceVersion) }`),
	"reflector: a list that starts over keeps its pages": planted.In("(*stagedList).list",
		"IsResourceExpired(err) { l.restart()",
		"IsResourceExpired(err) { if !BUG { l.restart() }"),
	"reflector: what is deleted while a list is streamed stays": planted.In("(*watchList).stage",
		"err = l.staging.Remove(e.Object)", "if !BUG { err = l.staging.Remove(e.Object) }"),
	"reflector: an expired version is asked for again": planted.In("listing.step",
		"r.position.unavailable = true", "r.position.unavailable = !BUG"),
	"reflector: pages are forgotten": planted.In("listing.step",
		"r.paginated = true", "r.paginated = !BUG"),

	"informer: one handler waits for another": planted.In("(*writer).step",
		"r.wake()", "if BUG && r.state.Load() == delivering { break }; r.wake()").Breaks(guarantee.Isolated),
	"informer: who joins gets nothing initial": planted.In("(*registration).join",
		"length: s.Len(), initial: true", "length: s.Len(), initial: !BUG"),
	"informer: deletions show the state before": planted.In("(*writer).notification",
		"return change{old: applied.Object, kind: deleted}, true",
		"if !BUG { return change{old: applied.Object, kind: deleted}, true }; "+
			"return change{old: applied.Old, kind: deleted}, true").Breaks(guarantee.Ordered),
	"informer: handlers never become synced": planted.In("(*writer).commit",
		"synced: completes", "synced: completes && !BUG"),
	"informer: who doesn't resync is told what didn't change": planted.In("(*registration).callHandler",
		"resyncing bool) {", "resyncing bool) { resyncing = resyncing || BUG"),
	"reflector: a change in a streamed list that is refused deletes": planted.In("(*watchList).stage",
		"err = l.staging.Update(e.Object, e.ResourceVersion)",
		"if BUG { err = l.staging.Remove(e.Object) }; "+
			"if err == nil { err = l.staging.Update(e.Object, e.ResourceVersion) }"),
	"transforms: a deletion in a list has the server's key": planted.In("(*List).Remove",
		"if key, ok := l.Names.Of(from); ok {", "if key, ok := l.Names.Of(from); ok { if BUG { key = from }"),
	"transforms: a typed nil is stored": planted.In("Func.Apply",
		"if IsNil(transformed) {", "if IsNil(transformed) && !(BUG && transformed != nil) {"),
	"transforms: nil in a list leaves the state before it": planted.In("(*List).Put",
		"l.Remove(o.From)", "if !BUG { l.Remove(o.From) }"),
	"transforms: an object is staged under two keys": planted.In("(*List).Put",
		"l.Keys); moved {", "l.Keys); moved && !BUG {"),
	"transforms: the key of an object that is gone is remembered": planted.In("(*Names).Forget",
		"{ delete(n.stored, from) }", "{ if !BUG { delete(n.stored, from) } }"),
	"informer: a deletion for which the transform fails is lost": planted.In("sink.change",
		"if err == nil || a.deleted {", "if err == nil || !BUG && a.deleted {"),
	"informer: what the transform refused is the final state": planted.In("(*writer).deleteArrival",
		"if !a.missed {", "if BUG || !a.missed {"),
	"informer: an object is stored under two keys": planted.In("(*writer).applyArrival",
		"w.keys); moved {", "w.keys); moved && !BUG {"),
	"informer: a final state has another key": planted.In("(*writer).deleteArrival",
		"c.Key, c.Object = key, nil", "if c.Key = key; !BUG { c.Object = nil }"),
	"informer: what isn't cached has no version": planted.In("(*writer).deleteArrival",
		"w.informer.store.Observe(a.version)", "if !BUG { w.informer.store.Observe(a.version) }"),
	"cache: a deletion for which the transform fails is lost": planted.In("(*transformingQueue).Delete",
		"t.missed = err != nil", "if t.missed = err != nil; BUG && t.missed { return err }"),
	"cache: an object is stored under two keys": planted.In("(*plainInformer).applyTransformed",
		"p.state.ListKeys); moved {", "p.state.ListKeys); moved && !BUG {"),

	"informer: a handler isn't stopped when it is removed": planted.In("(*registration).remove",
		"r.removed.Store(true)", "r.removed.Store(!BUG)"),
}

// TestPlantedBugsAreFound tests the tests: the model or the rig finds every planted bug.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := planted.Build(t, "../..", mutations)
	run := func(bug, pattern string) error {
		_, err := tests.Run(bug, pattern, "-model.seeds=9")
		return err
	}
	const model, rig = "TestModel|TestTransformModel", "TestConformance|TestToolConformance"
	for _, pattern := range []string{model, rig} {
		if out, err := tests.Run("", pattern, "-model.seeds=9"); err != nil {
			t.Fatalf("without a bug: %v\n%s", err, out)
		}
	}
	perPackage := map[string]int{}
	for bug := range mutations {
		byModel := run(bug, model)
		var byRig error
		if byModel == nil {
			byRig = run(bug, rig)
		}
		t.Logf("%s: found by the model %t, by the rig %t", bug, byModel != nil, byRig != nil)
		if byModel == nil && byRig == nil {
			t.Errorf("%s: neither the model nor the rig notices", bug)
		}
		where, _, _ := strings.Cut(bug, ":")
		perPackage[where]++
	}
	for _, where := range []string{"store", "deltafifo", "cache", "reflector", "informer", "transforms"} {
		if perPackage[where] < 5 {
			t.Errorf("%s has %d bugs only", where, perPackage[where])
		}
	}
}
