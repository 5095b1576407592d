package informer_test

import (
	"testing"

	"github.com/kubewright/kubewright/internal/planted"
)

// partBugs are bugs that the tests of informers of a part have to find.
var partBugs = map[string]planted.Bug{
	"a first list may be of any age": planted.Replace("internal/feeds/group.go",
		"options.Consistent, options.From = true, f.at", "options.Consistent, options.From = !BUG, f.at"),
	"narrowing leaves objects in the store": planted.Replace("internal/feeds/group.go",
		"g.sink.Released(g.wanted)", "if !BUG { g.sink.Released(g.wanted) }"),
	"a feed without ranges goes on": planted.Replace("internal/feeds/group.go",
		"len(f.ranges) == 0 {", "len(f.ranges) == 0 && !BUG {"),
	"the version is that of the feed ahead": planted.Replace("internal/feeds/group.go",
		"isBefore(f.at, least))", "BUG != isBefore(f.at, least))"),
	"the hash isn't checked": planted.Replace("internal/feeds/feed.go",
		"return f.ranges.Contains(hash)", "return BUG || f.ranges.Contains(hash)"),
	"what was told is told again": planted.Replace("internal/feeds/feed.go",
		"if floor.ranges.Contains(hash) &&", "if !BUG && floor.ranges.Contains(hash) &&"),
	"joined feeds resume where the one ahead is": planted.Replace("internal/feeds/feed.go",
		"if isBefore(b.at, a.at) {", "if BUG != isBefore(b.at, a.at) {"),
	"feeds are joined though one may be long behind": planted.Replace("internal/feeds/feed.go",
		"return g.filtering.watchesAreWhole() ||", "return BUG || g.filtering.watchesAreWhole() ||"),
	"a feed that has ended still tells": planted.Replace("internal/feeds/sink.go",
		"if s.ended {\n\t\treturn nil\n\t}\n\tvar err error\n\tif s.takes",
		"if s.ended && !BUG {\n\t\treturn nil\n\t}\n\tvar err error\n\tif s.takes"),
	"pages change their selector": planted.Replace("internal/feeds/source.go",
		`if opts.Continue == "" {`, `if BUG || opts.Continue == "" {`),
	"a list may be older than what is shown": planted.Replace("internal/feeds/source.go",
		"if isBefore(opts.ResourceVersion,", "if !BUG && isBefore(opts.ResourceVersion,"),
	"an unreadable selector is sent again": planted.Replace("internal/feeds/source.go",
		"if err != nil && strings", "if !BUG && err != nil && strings"),
	"a list stores what left meanwhile": planted.Replace("informer/partwriter.go",
		"w.leaveOut(staged, in)", "if !BUG { w.leaveOut(staged, in) }"),
	"a list takes out other ranges": planted.Replace("informer/partwriter.go",
		"if in(c.Object) {\n\t\t\tcontinue", "if BUG || in(c.Object) {\n\t\t\tcontinue"),
	"an object of another feed is overwritten by an older one": planted.Replace("informer/partwriter.go",
		"hash(old) != hash(c.Object) &&", "!BUG && hash(old) != hash(c.Object) &&"),
	"objects say what the version of the store is": planted.Replace("informer/partsink.go",
		"store.Pin(mixed)", "store.Pin(mixed && !BUG)"),
	"what is released is told as deleted": planted.Replace("informer/writer.go",
		"case w.releasing:", "case w.releasing && !BUG:"),
}

// TestPlantedPartBugsAreFound checks that the tests of informers of a part find each of partBugs.
func TestPlantedPartBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the runtime once more")
	}
	tests := planted.Build(t, "..", partBugs)
	const pattern = "TestPartModel|TestPartWithoutRanges|TestNarrowing|TestWidening|TestWideningOfWhole|" +
		"TestListIsNotOlder|TestPagesKeepTheirSelector|TestInvalidSelector"
	if out, err := tests.Run("", pattern); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for bug := range partBugs {
		if _, err := tests.Run(bug, pattern); err == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
