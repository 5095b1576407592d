package optional_test

import (
	"testing"

	bugs "github.com/kubewright/kubewright/internal/planted"
)

// readerBugs are bugs that the tests of informers of optional kinds have to find.
var readerBugs = map[string]bugs.Bug{
	"what goes isn't noticed": bugs.In("(*optionalReader).runUntil",
		"if now.State != state {", "if now.State != state && !BUG {"),
	"waits for versions wait for an absent kind": bugs.In("(*nothing).Watch",
		"n.isShown.Store(true)", "n.isShown.Store(!BUG)"),
	"an empty cache stays empty for waits": bugs.In("(*optionalReader).Run",
		"o.nothing.Store(nil)", "if !BUG { o.nothing.Store(nil) }"),
	"a 404 is no sign": bugs.In("(*optionalReader).failed",
		"if apierrors.IsNotFound(err) {", "if !BUG && apierrors.IsNotFound(err) {"),
	"what appears is read from a watch cache": bugs.In("(*optionalReader).Run",
		"wasAbsent, wasAbsent", "wasAbsent && !BUG, wasAbsent && !BUG"),
	"what isn't known is requested": bugs.In("(*optionalReader).Run",
		"case served.Unknown:", "case map[bool]served.State{false: served.Unknown, true: -1}[BUG]:"),
	"a part forgets its ranges": bugs.In("(*selection).Reader",
		"if s.group != nil {", "if !BUG && s.group != nil {"),
}

// TestPlantedBugsAreFound checks that the tests of this package find each of readerBugs.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := bugs.Build(t, "../..", readerBugs)
	const pattern = "TestModel|TestInstallDeleteReinstall|TestFirstRequest|TestSyncStaysTrue|" +
		"TestForbiddenDefinitions|TestNothingElseEmptiesTheStore|TestSeveralInformers"
	if out, err := tests.Run("", pattern); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for bug := range readerBugs {
		if _, err := tests.Run(bug, pattern); err == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
