package ownwrites_test

import (
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs that the model or the table of rules has to find.
var mutations = map[string]planted.Bug{
	"no key is parked": planted.In("(*Tracker).holds",
		"if r.open == 0 {", "if BUG || r.open == 0 {").Breaks(guarantee.OwnWritesShown),
	"only the first version counts": planted.In("(*record).await",
		"compare(w.version, version) < 0", "!BUG && compare(w.version, version) < 0").
		Breaks(guarantee.OwnWritesShown),
	"the first shown wait releases the key": planted.In("(*record).ended",
		"if r.parked && r.open == 0 { r.unpark", "if r.parked && (BUG || r.open == 0) { r.unpark").
		Breaks(guarantee.OwnWritesShown),
	"one wait ends at a time": planted.In("(*watched).Reached",
		"in.waits[0].end(&ready)", "in.waits[0].end(&ready); if BUG { break }"),
	"what appears after its deletion isn't looked for": planted.In("(*record).look",
		"if !d.holds && d.isShown() {", "if !BUG && !d.holds && d.isShown() {"),
	"any object of the name ends a deletion": planted.In("(*watched).Removed",
		"d.uid == uid", "(BUG || d.uid == uid)").Breaks(guarantee.OwnWritesShown),
	"a list ends no deletions": planted.In("(*watched).Replaced",
		"d.holds && !d.isShown()", "!BUG && d.holds && !d.isShown()"),
	"the end of an informer is missed": planted.In("(*engine).stop",
		"i.observers.each(observe.Observer.Voided)", "if !BUG { i.observers.each(observe.Observer.Voided) }"),
	"nothing happens at the bound": planted.In("(*Tracker).ring",
		"r.since+t.bound() <= now; r", "!BUG && r.since+t.bound() <= now; r"),
	"the heap isn't one": planted.In("(*watched).up",
		"compare(w.version, in.waits[parent].version) >= 0",
		"BUG != (compare(w.version, in.waits[parent].version) >= 0)"),
	"a released key is lost": planted.In("(*Queue).release",
		"q.makeReady(id)", "if !BUG { q.makeReady(id) }").Breaks(guarantee.NoneLost),
	"an object that left the selection may not come back": planted.In("(*watched).removed",
		`scope.Labels == "" && scope.Fields == ""`, `BUG || scope.Labels == "" && scope.Fields == ""`),
	"any own version makes an echo": planted.In("(*echoes).isEcho",
		"if v.seen &&", "if (BUG || v.seen) &&"),
	"what the server didn't check makes an echo": planted.In("(*echoes).after",
		"v.checked &&", "(BUG || v.checked) &&"),
	"an echo is any change from an own version": planted.In("(*echoes).isEcho",
		"at = v.version; at == c.to", "at = v.version; BUG || at == c.to"),
	"additions aren't kept for missing answers": planted.In("(*echoes).skips",
		"if e.unanswered == 0 {", "if BUG || e.unanswered == 0 {"),
	"what was kept is forgotten": planted.In("(*echoes).decide",
		"add = slices", "add = !BUG && slices"),
	"own versions outlive a restore": planted.In("(*watched).void",
		"return v.resource == in.resource", "return !BUG && v.resource == in.resource"),
	"own versions outlive a range": planted.In("(*watched).Released",
		"return v.resource == in.resource", "return !BUG && v.resource == in.resource"),
	"answers from before a move make echoes": planted.In("(*Tracker).noteOwn",
		"w.moves != t.moves", "!BUG && w.moves != t.moves"),
	"what is written elsewhere makes echoes": planted.In("(*Tracker).noteOwn",
		"if !in.cache.Selects(", "if !BUG && !in.cache.Selects("),
	"a range that arrives ends all waits": planted.In("(*watched).wentBack",
		"back && !in.cache.Scope().Part", "back && (BUG || !in.cache.Scope().Part)"),
}

// TestPlantedBugsAreFound checks that the tests find each of mutations.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := planted.Build(t, "..", mutations)
	const model = "TestModel|TestEchoModel"
	const all = model + "|TestRules|TestRestore|TestEachEventReleasesItsKeys|TestComesBackBehindSelector" +
		"|TestEchoRules|TestEchoBeforeAnswer|TestEchoAfterBound|TestEchoOfRestoredServer" +
		"|TestEchoOfReleasedObjects|TestEchoOfMovedWrites|TestEchoOfOtherPart"
	if out, err := tests.Run("", all); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	found := 0
	for bug := range mutations {
		_, err := tests.Run(bug, model)
		if err != nil {
			found++
		} else if _, err = tests.Run(bug, all); err == nil {
			t.Errorf("%s: no test notices", bug)
		} else {
			t.Logf("%s: only found by the tests of rules", bug)
		}
	}
	if found < 12 {
		t.Errorf("the model finds %d bugs only", found)
	}
}
