package informer_test

import (
	"testing"

	bugs "github.com/kubewright/kubewright/internal/planted"
)

// partBugs are bugs that the tests of informers of a part have to find.
var partBugs = map[string]bugs.Bug{
	"a first list may be of any age": bugs.Replace("internal/feeds/group.go",
		"options.Consistent, options.From = true, f.at", "options.Consistent, options.From = !BUG, f.at"),
	"narrowing leaves objects in the store": bugs.Replace("internal/feeds/group.go",
		"g.sink.Released(g.wanted)", "if !BUG { g.sink.Released(g.wanted) }"),
	"a feed without ranges goes on": bugs.Replace("internal/feeds/group.go",
		"len(f.ranges) == 0 {", "len(f.ranges) == 0 && !BUG {"),
	"the version is that of the feed ahead": bugs.Replace("internal/feeds/group.go",
		"isBefore(f.at, least))", "BUG != isBefore(f.at, least))"),
	"the hash isn't checked": bugs.Replace("internal/feeds/feed.go",
		"return f.ranges.Contains(hash)", "return BUG || f.ranges.Contains(hash)"),
	"what was told is told again": bugs.Replace("internal/feeds/feed.go",
		"if floor.ranges.Contains(hash) &&", "if !BUG && floor.ranges.Contains(hash) &&"),
	"what has no version is held back by a floor": bugs.Replace("internal/feeds/feed.go",
		`version != "" && !isBefore`, `(BUG || version != "") && !isBefore`),
	"feeds of objects without versions are joined": bugs.Replace("internal/feeds/feed.go",
		"if g.versionless ||", "if !BUG && g.versionless ||"),
	"the deletion of another object of its name takes one out": bugs.Replace("informer/partwriter.go",
		"(a.deleted ||", "(!BUG && a.deleted ||"),
	"what is stored outlives what is listed": bugs.Replace("informer/partwriter.go",
		"!isEarlier(version, c.Version)",
		"(BUG && isEarlier(c.Version, version) || !BUG && !isEarlier(version, c.Version))"),
	"joined feeds resume where the one ahead is": bugs.Replace("internal/feeds/feed.go",
		"if isBefore(b.at, a.at) {", "if BUG != isBefore(b.at, a.at) {"),
	"feeds are joined though one may be long behind": bugs.Replace("internal/feeds/feed.go",
		"return g.filtering.watchesAreWhole() ||", "return BUG || g.filtering.watchesAreWhole() ||"),
	"pages change their selector": bugs.Replace("internal/feeds/source.go",
		`if opts.Continue == "" {`, `if BUG || opts.Continue == "" {`),
	"a list may be older than what is shown": bugs.Replace("internal/feeds/source.go",
		"if isBefore(opts.ResourceVersion,", "if !BUG && isBefore(opts.ResourceVersion,"),
	"an unreadable selector is sent again": bugs.Replace("internal/feeds/source.go",
		"if err != nil && strings", "if !BUG && err != nil && strings"),
	"a list stores what left meanwhile": bugs.Replace("informer/partwriter.go",
		"w.leaveOut(staged, in)", "if !BUG { w.leaveOut(staged, in) }"),
	"a list takes out other ranges": bugs.Replace("informer/partwriter.go",
		"if in(c.Object) {\n\t\t\tcontinue", "if BUG || in(c.Object) {\n\t\t\tcontinue"),
	"an object of another feed is overwritten by an older one": bugs.Replace("informer/partwriter.go",
		"of(old) != hash &&", "!BUG && of(old) != hash &&"),
	"objects say what the version of the store is": bugs.Replace("informer/partsink.go",
		"store.Pin(mixed)", "store.Pin(mixed && !BUG)"),
	"what is released is told as deleted": bugs.Replace("informer/partwriter.go",
		"w.leaveAs(released,", "w.leaveAs(map[bool]kind{true: deleted, false: released}[BUG],"),
}

// TestPlantedPartBugsAreFound checks that the tests of informers of a part find each of partBugs.
func TestPlantedPartBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the runtime once more")
	}
	tests := bugs.Build(t, "..", partBugs)
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
