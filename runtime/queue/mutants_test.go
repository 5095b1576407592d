package queue_test

import (
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// mutations are bugs that the model or the laws have to find.
var mutations = map[string]planted.Bug{
	"what is added while in process isn't run again": planted.In("(*Queue).Done",
		"wasAdded := *state&again != 0", "wasAdded := !BUG && *state&again != 0").
		Breaks(guarantee.NewestAfterDone),
	"a delay ends too early": planted.In("(*Queue).deliver",
		"now := q.base.now()", "now := q.base.now(); if BUG { now += int64(time.Millisecond) }").
		Breaks(guarantee.NotBeforeItsTime),
	"what has failed often isn't tried again": planted.In("(*Queue).AddRateLimited",
		"q.AddAfter(", "if BUG && q.NumRequeues(item) > 3 { return }; q.AddAfter(").
		Breaks(guarantee.RetriedInTheEnd),
}

// TestPlantedBugsAreFound checks that the tests find each of mutations.
func TestPlantedBugsAreFound(t *testing.T) {
	tests := planted.Build(t, ".", mutations)
	const pattern = "TestQueueIsItsModel|TestLaws|TestNeverEarly"
	if out, err := tests.Run("", pattern); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for bug := range mutations {
		if _, err := tests.Run(bug, pattern); err == nil {
			t.Errorf("%s: no test notices", bug)
		}
	}
}
