package queue

import (
	"math/rand/v2"
	"testing"
)

// TestRing compares a ring with a slice.
func TestRing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var ring ring[int]
	var model []int
	for i := range 100_000 {
		if r.IntN(100) < 45+10*(i/10_000%2) {
			ring.push(i)
			model = append(model, i)
		} else if len(model) > 0 {
			if got := ring.pop(); got != model[0] {
				t.Fatalf("pop is %d, want %d", got, model[0])
			}
			model = model[1:]
		}
		if ring.n != len(model) {
			t.Fatalf("n is %d, want %d", ring.n, len(model))
		}
	}
}
