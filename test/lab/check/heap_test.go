package check_test

import (
	"runtime"
	"testing"

	"github.com/kubewright/kubewright/test/lab/check"
)

// TestNothingIsKept checks that stopped informers leave no memory behind: the heap doesn't grow when the same
// scripts are played again and again.
func TestNothingIsKept(t *testing.T) {
	const scripts, rounds = 5, 5
	round := func(i check.Implementation) {
		for seed := range uint64(scripts) {
			if v := check.Play(t, i, check.Generate(seed, 60)).Violation; v != nil {
				t.Errorf("seed %d: %v", seed, v)
			}
		}
	}
	for _, i := range []check.Implementation{check.Ours, check.Facade} {
		t.Run(i.Name, func(t *testing.T) {
			// Pools and the like grow at first.
			round(i)
			round(i)
			before := live()
			for range rounds {
				round(i)
			}
			after := live()
			t.Logf("the live heap has %d KB, and %d KB after %d scripts more", before/1024, after/1024,
				scripts*rounds)
			if after > before+before/10 {
				t.Errorf("the live heap grew from %d to %d bytes", before, after)
			}
		})
	}
}

// live returns the size of the heap when everything that can be freed has been.
func live() uint64 {
	var stats runtime.MemStats
	for range 3 { // finalizers and pools free memory only at the next collection
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
