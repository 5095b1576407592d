package served

import (
	"testing"

	bugs "github.com/kubewright/kubewright/internal/planted"
)

// kindBugs are bugs that the tests of this package have to find.
var kindBugs = map[string]bugs.Bug{
	"two discoveries in a row are enough": bugs.In("(*Kind).Discovered",
		"began.Sub(k.lacked) >= spacing", "BUG || began.Sub(k.lacked) >= spacing"),
	"a partial discovery counts": bugs.In("(*Kind).Discovered",
		"!whole && k.state == Open", "!BUG && !whole && k.state == Open"),
	"a lone 404 of a kind without a definition": bugs.In("(*Kind).gotLack",
		"(k.deleted || k.state == Unknown)", "(BUG || k.deleted || k.state == Unknown)"),
	"what others serve stays deleted": bugs.In("(*Kind).gotServed",
		"k.deleted = k.retry(now, 0)", "k.deleted = k.retry(now, 0) || BUG"),
	"an answer doesn't count against discoveries": bugs.In("(*Kind).gotServed",
		"true, false, time.Time{}, time.Time{}",
		"true, BUG && k.lacks, map[bool]time.Time{true: k.lacked}[BUG], time.Time{}"),
	"a 404 isn't repeated": bugs.In("(*Kind).retry",
		"if k.get.IsZero() ||", "if !BUG && k.get.IsZero() ||"),
	"nobody looks for absent kinds": bugs.In("(*Kind).becomeAbsent",
		"if k.definition != Present {", "if !BUG && k.definition != Present {"),
	"nobody looks when an informer misses its kind": bugs.In("(*Kind).Missed",
		"if k.state == Open && !isChecked {", "if !BUG && k.state == Open && !isChecked {"),
	"a backend that is down is gone": bugs.In("(*Kind).Got",
		"k.retry(now, period)", "if BUG { k.gotLack(now) }; k.retry(now, period)"),
}

// TestPlantedBugsAreFound checks that the tests of this package find each of kindBugs.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := bugs.Build(t, ".", kindBugs)
	const pattern = "TestModel|TestRules"
	if out, err := tests.Run("", pattern); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for bug := range kindBugs {
		if _, err := tests.Run(bug, pattern); err == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
