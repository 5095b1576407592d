package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs by name.
var mutations = map[string]planted.Bug{
	"reflector: events don't move the position": planted.Replace("internal/reflector/watching.go",
		"before := r.position.set(e.ResourceVersion)",
		`before := ""; if !BUG { before = r.position.set(e.ResourceVersion) }`),
	"reflector: only the first page is read": planted.Replace("internal/reflector/listing.go",
		`if meta.Continue == "" {`, `if meta.Continue == "" || BUG {`),
	"reflector: a silent watch stays open": planted.Replace("internal/reflector/watching.go",
		"s.ended.Store(true)", "if BUG { return }; s.ended.Store(true)"),
	"reflector: a watch-list without an end stays open": planted.Replace("internal/reflector/streaming.go",
		"func() { cancel(errNoEndBookmark) }", "func() { if !BUG { cancel(errNoEndBookmark) } }"),
	"reflector: a watch-list that failed isn't closed": planted.Replace("internal/reflector/streaming.go",
		"if !complete || err != nil {\n\t\t\tl.stream.Stop()",
		"if (!complete || err != nil) && !BUG {\n\t\t\tl.stream.Stop()"),

	"listwatch: a list keeps its place": planted.Replace("listwatch/lease.go",
		"<-l.limiter.places", "if !BUG { <-l.limiter.places }"),
	"listwatch: a list that was cut is complete": planted.Replace("listwatch/liststream.go",
		"b.call.finish(b, meta, err)",
		"if BUG && failure != nil { err, failure = nil, nil }; b.call.finish(b, meta, err)"),

	"store: an index isn't updated": planted.Replace("internal/store/generation.go",
		"x.update(p.slot, values[i])", "if !BUG { x.update(p.slot, values[i]) }"),
	"store: a list deletes nothing": planted.Replace("internal/store/changes.go",
		"if !kept {", "if !kept && !BUG {"),

	"deltafifo: the end of a batch is lost": planted.Replace("internal/deltafifo/deltafifo.go",
		"f.pending, f.lent = f.lent, f.pending",
		"f.pending, f.lent = f.lent, f.pending; if BUG && len(f.lent) > 1 { f.lent = f.lent[:len(f.lent)-1] }"),
	"deltafifo: two deltas are swapped": planted.Replace("internal/deltafifo/deltafifo.go",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version",
		"delta.Type, delta.Key, delta.Object, delta.Version = t, key, object, version; if BUG && n > 0 { "+
			"f.pending[n-1], f.pending[n] = f.pending[n], f.pending[n-1] }"),

	"informer: an object is kept though its version changed": planted.Replace("informer/sink.go",
		"!ok || version != id.ResourceVersion || ", "!ok || version != id.ResourceVersion && !BUG || "),
	"informer: the version of a deletion is lost": planted.Replace("informer/writer.go",
		"Type: store.Deleted, Key: d.Key, Object: d.Object, Version: d.Version}",
		"Type: store.Deleted, Key: d.Key, Object: d.Object, Version: map[bool]string{false: d.Version}[BUG]}"),
	"informer: who joins misses what there is": planted.Replace("informer/registration.go",
		"r.cursor = first", "if r.cursor = first; BUG { r.cursor = l.tail }"),
	"informer: a panic ends a list": planted.Replace("informer/registration.go",
		"passed := r.index\n\tfor c := range b.bulk {",
		"passed := r.index; if BUG && passed > 0 { return true }\n\tfor c := range b.bulk {"),
	"informer: a merged deletion is lost": planted.Replace("informer/coalescer.go",
		"case !unknown:", "case !unknown && !BUG:"),
	"informer: typed handlers aren't told of missed deletions": planted.Replace("informer/handler.go",
		"func (h *typedHandler[T]) OnDelete(obj any) {",
		"func (h *typedHandler[T]) OnDelete(obj any) { if BUG && tombstoneOf(obj) != nil { return };"),

	"factory: a namespace that leaves isn't told of": planted.Replace("factory/multihandler.go",
		"if !h.removed.Load() {", "if !h.removed.Load() && !BUG {"),
	"factory: a released informer runs on": planted.Replace("factory/set.go",
		"if e.started {\n\t\te.stop()", "if e.started && !BUG {\n\t\te.stop()"),
}

// few are the bugs that every run of the tests looks for.
var few = []string{
	"reflector: events don't move the position", "listwatch: a list keeps its place",
	"informer: a merged deletion is lost",
}

// TestPlantedBugsAreFound tests the laws: random scripts find every planted bug within a minute.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the runtime once more")
	}
	tests := planted.Build(t, "../../../runtime", mutations)
	run := func(bug string, seeds string) (string, error) {
		return tests.Run(bug, "TestSimulated|TestEachFault",
			"-lab.only=ours", "-lab.shrink=false", "-lab.seeds="+seeds)
	}
	if out, err := run("", "5"); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	names := few
	if *full {
		names = slices.Sorted(maps.Keys(mutations))
	}
	for _, bug := range names {
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
