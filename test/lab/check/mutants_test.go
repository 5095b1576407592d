package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"reflector: events don't move the position": planted.In("watching.step",
		"before := r.position.set(e.ResourceVersion)",
		`before := ""; if !BUG { before = r.position.set(e.ResourceVersion) }`),
	"reflector: errors aren't told": planted.In("(*health).failed",
		"h.LastError = err", "if !BUG { h.LastError = err }").Breaks(guarantee.Told),
	"reflector: only the first page is read": planted.In("(*stagedList).list",
		`if meta.Continue == "" {`, `if meta.Continue == "" || BUG {`),
	"reflector: a silent watch stays open": planted.In("startIdleTimeout",
		"s.ended.Store(true)", "if BUG { return }; s.ended.Store(true)"),
	"reflector: a watch-list without an end stays open": planted.In("(*watchList).read",
		"func() { cancel(errNoEndBookmark) }", "func() { if !BUG { cancel(errNoEndBookmark) } }"),
	"reflector: a watch-list that failed isn't closed": planted.In("(*watchList).read",
		"if !complete || err != nil { l.stream.Stop()",
		"if (!complete || err != nil) && !BUG { l.stream.Stop()"),
	"reflector: a continue token may come again": planted.In("(*pages).next",
		"; known {", "; known && !BUG {").And("(*pages).next",
		"if p.stalled == maxStalledPages {", "if p.stalled == maxStalledPages && !BUG {").
		Breaks(guarantee.BoundedLoad),

	"limits: a list keeps its slot": planted.In("(*Slot).End",
		"<-s.limiter.slots", "if !BUG { <-s.limiter.slots }"),
	"listwatch: a list that was cut is complete": planted.In("(*listBody).read",
		"b.call.finish(b, meta, err)",
		"if BUG && failure != nil { err, failure = nil, nil }; b.call.finish(b, meta, err)"),

	"store: an index isn't updated": planted.In("(*generation).put",
		"x.update(p.slot, values[i])", "if !BUG { x.update(p.slot, values[i]) }"),
	"store: a list deletes nothing": planted.In("store.compare",
		"if !kept {", "if !kept && !BUG {"),

	"deltafifo: the end of a batch is lost": planted.In("(*DeltaFIFO).PopBatch",
		"f.pending, f.lent = f.lent, f.pending",
		"f.pending, f.lent = f.lent, f.pending; if BUG && len(f.lent) > 1 { f.lent = f.lent[:len(f.lent)-1] }"),
	"deltafifo: two deltas are swapped": planted.In("(*DeltaFIFO).Append",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version; if BUG && n > 0 { "+
			"f.pending[n-1], f.pending[n] = f.pending[n], f.pending[n-1] }"),

	"informer: an object is kept though its version changed": planted.In("(*engine).useCache",
		"!ok || version != id.ResourceVersion || ", "!ok || version != id.ResourceVersion && !BUG || "),
	"informer: the version of a deletion is lost": planted.In("(*writer).applyChange",
		"Type: store.Deleted, Key: d.Key, Object: d.Object, Version: d.Version}",
		"Type: store.Deleted, Key: d.Key, Object: d.Object, Version: map[bool]string{false: d.Version}[BUG]}"),
	"informer: who joins misses what there is": planted.In("(*registration).join",
		"r.cursor = first", "if r.cursor = first; BUG { r.cursor = l.tail }"),
	"informer: what a handler has received stays": planted.In("(*registration).join",
		"first.next.Store(l.tail)",
		"first.next.Store(l.tail); if BUG { go func() { <-r.finished; first.next.Load() }() }").
		Breaks(guarantee.BoundedMemory),
	"informer: a panic ends a list": planted.In("(*registration).deliverBulk",
		"passed := r.index", "passed := r.index; if BUG && passed > 0 { return true }"),
	"informer: a merged deletion is lost": planted.In("(*coalescer).OnDelete",
		"case !unknown, m.gone", "case !unknown && !BUG, m.gone"),
	"informer: typed handlers aren't told of missed deletions": planted.In("(*TypedHandler).OnDelete",
		"OnDelete(obj any) {",
		"OnDelete(obj any) { if _, ok := obj.(cache.DeletedFinalStateUnknown); BUG && ok { return };"),

	"factory: a released informer runs on": planted.In("(*Set).Release",
		"if e.started { e.stop()", "if e.started && !BUG { e.stop()"),

	"namespaces: one that leaves isn't told of": planted.In("(*multiHandler).forgetOnce",
		"!h.removed.Load()", "!h.removed.Load() && !BUG"),
}

// TestPlantedBugsAreFound tests the laws: random scripts find every planted bug within a minute.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := planted.Build(t, "../../../runtime", mutations)
	run := func(bug string, seeds string) (string, error) {
		return tests.Run(bug, "TestSimulated|TestEachFault|TestTold",
			"-lab.only=ours", "-lab.shrink=false", "-lab.seeds="+seeds)
	}
	if out, err := run("", "5"); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for _, bug := range slices.Sorted(maps.Keys(mutations)) {
		start := time.Now()
		out, err := run(bug, "150")
		took := time.Since(start).Round(100 * time.Millisecond)
		if err == nil || strings.Contains(out, "panic: test timed out") {
			t.Errorf("%s: not found in %v", bug, took)
			continue
		}
		t.Logf("%s: found in %v", bug, took)
		if testing.Verbose() {
			t.Logf("%.600s", out)
		}
	}
}
