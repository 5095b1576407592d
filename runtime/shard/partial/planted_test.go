package partial_test

import (
	"testing"

	bugs "github.com/kubewright/kubewright/internal/planted"
)

// partBugs are bugs that the tests of informers of a part have to find.
var partBugs = map[string]bugs.Bug{
	"a first list may be of any age": bugs.In("(*Group).startFeed",
		"options.Consistent, options.From = true, f.at", "options.Consistent, options.From = !BUG, f.at"),
	"narrowing leaves objects in the store": bugs.In("(*Group).releaseRanges",
		"g.sink.Release(g.inRanges(g.wanted))", "if !BUG { g.sink.Release(g.inRanges(g.wanted)) }"),
	"a feed without ranges goes on": bugs.In("(*Group).releaseRanges",
		"len(f.ranges) == 0 {", "len(f.ranges) == 0 && !BUG {"),
	"the version is that of the feed ahead": bugs.In("(*Group).minVersion",
		"isBefore(f.at, lowest))", "BUG != isBefore(f.at, lowest))"),
	"the hash isn't checked": bugs.In("(*feed).covers",
		"return f.ranges.Contains(hash)", "return BUG || f.ranges.Contains(hash)"),
	"what was told is told again": bugs.In("(*feed).lacks",
		"if mark.ranges.Contains(hash) &&", "if !BUG && mark.ranges.Contains(hash) &&"),
	"what has no version is held back by a watermark": bugs.In("(*feed).lacks",
		`version != "" && !isBefore`, `(BUG || version != "") && !isBefore`),
	"feeds of objects without versions are joined": bugs.In("(*Group).canJoin",
		"if g.versionless ||", "if !BUG && g.versionless ||"),
	"the deletion of another object of its name takes one out": bugs.In("(*writer).applyFromStream",
		"(a.deleted ||", "(!BUG && a.deleted ||"),
	"what is stored outlives what is listed": bugs.In("isReplaced",
		"!isEarlier(version, stored.Version)",
		"(BUG && isEarlier(stored.Version, version) || !BUG && !isEarlier(version, stored.Version))"),
	"joined feeds resume where the one ahead is": bugs.In("joinFeeds",
		"if isBefore(b.at, a.at) {", "if BUG != isBefore(b.at, a.at) {"),
	"feeds are joined though one may be long behind": bugs.In("(*Group).canJoin",
		"return g.filtering.watchesAreWhole() ||", "return BUG || g.filtering.watchesAreWhole() ||"),
	"pages change their selector": bugs.In("feedSource.prepare",
		`if opts.Continue == "" {`, `if BUG || opts.Continue == "" {`),
	"a list may be older than what is shown": bugs.In("feedSource.prepare",
		"if isBefore(opts.ResourceVersion,", "if !BUG && isBefore(opts.ResourceVersion,"),
	"an unreadable selector is sent again": bugs.In("feedSource.checked",
		"if err != nil && strings", "if !BUG && err != nil && strings"),
	"a list stores what left meanwhile": bugs.In("(*writer).replace",
		"w.leaveOut(staged, in)", "if !BUG { w.leaveOut(staged, in) }"),
	"a list takes out other ranges": bugs.In("(*writer).stageRest",
		"if in(c.Object) || isReplaced(", "if BUG || in(c.Object) || isReplaced("),
	"an object of another feed is overwritten by an older one": bugs.In("(*writer).applyFromStream",
		"!sameStream(old) &&", "!BUG && !sameStream(old) &&"),
	"objects say what the version of the store is": bugs.In("selectionSink.Pin",
		"store.Pin(pinned)", "store.Pin(pinned && !BUG)"),
	"what is released is told as deleted": bugs.In("(*writer).release",
		"w.deleteAs(released,", "w.deleteAs(map[bool]kind{true: deleted, false: released}[BUG],"),
}

// TestPlantedPartBugsAreFound checks that the tests of informers of a part find each of partBugs.
func TestPlantedPartBugsAreFound(t *testing.T) {
	tests := bugs.Build(t, "../..", partBugs)
	const pattern = "TestPartModel|TestPartWithoutRanges|TestNarrowing|TestWidening|TestWideningOfWhole|" +
		"TestListIsNotOlder|TestEndedFeedsTellNothing|TestPagesKeepTheirSelector|TestInvalidSelector|" +
		"TestPartOfFake|TestVersionsThatEnd"
	if out, err := tests.Run("", pattern); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for bug := range partBugs {
		if _, err := tests.Run(bug, pattern); err == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
