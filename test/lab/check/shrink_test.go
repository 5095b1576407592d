package check_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubewright/kubewright/test/lab/check"
	"github.com/kubewright/kubewright/test/lab/fault"
)

// TestShrink gives the shrinker failures that need some of the operations and faults. Only those must be
// left.
func TestShrink(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := check.Generate(seed, 1+r.IntN(100))
		var faults fault.Script
		for i := range 1 + r.IntN(20) {
			faults = append(faults, fault.Step{After: i})
		}
		s.Faults = faults
		var ops []check.Op
		for range r.IntN(min(5, len(s.Ops))) {
			ops = append(ops, s.Ops[r.IntN(len(s.Ops))])
		}
		needed := faults[r.IntN(len(faults))]
		runs := 0
		got := check.Shrink(s, func(s check.Script) bool {
			runs++
			for _, op := range ops {
				if !slices.Contains(s.Ops, op) {
					return false
				}
			}
			return slices.Contains(s.Faults.(fault.Script), needed)
		})
		slices.SortFunc(ops, func(a, b check.Op) int { return slices.Index(s.Ops, a) - slices.Index(s.Ops, b) })
		if ops = slices.Compact(ops); !slices.Equal(got.Ops, ops) {
			t.Errorf("seed %d: %v are left, want %v", seed, got.Ops, ops)
		}
		if left := got.Faults.(fault.Script); len(left) != 1 || left[0] != needed {
			t.Errorf("seed %d: the faults %v are left, want %v", seed, left, needed)
		}
		if runs > 400 {
			t.Errorf("seed %d: it took %d runs", seed, runs)
		}
	}
}

// TestScriptsAreText checks that a script survives String and ParseScript.
func TestScriptsAreText(t *testing.T) {
	for seed := range uint64(20) {
		s := check.Generate(seed, 50)
		s.Faults = fault.Script{{Fault: "reset", After: int(seed)}, {Fault: "503"}}
		again, err := check.ParseScript(s.String())
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != s.String() || len(again.Ops) != len(s.Ops) || again.Wrong != s.Wrong {
			t.Errorf("seed %d: %v became %v", seed, s, again)
		}
	}
	for _, text := range []string{"dance:1", "write:x", "write", "write:1\nnonsense"} {
		if _, err := check.ParseScript(text); err == nil {
			t.Errorf("%q is read as a script", text)
		}
	}
}
