package client

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestHistory compares histories with all writes, while versions rise, responses overtake each other, and
// restores set the versions back.
func TestHistory(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var h history
		var all []int
		version := 1000000
		for range 300 {
			version += random.IntN(3)
			answered := version - random.IntN(2)*random.IntN(4)
			if random.IntN(60) == 0 {
				version -= random.IntN(900)
			}
			before, copied := h, append(history(nil), h...)
			all = append(all, answered)
			h = h.with(write{uint64(len(all)), strconv.Itoa(answered)})
			for n := range copied {
				if before[n] != copied[n] {
					t.Fatalf("seed %d: a history was modified", seed)
				}
			}
			for after := range len(all) + 1 {
				want, got := 0, 0
				for _, version := range all[after:] {
					want = max(want, version)
				}
				got, _ = strconv.Atoi(h.since(uint64(after)))
				if got != want && len(h) < maxHistory || got < want {
					t.Fatalf("seed %d: %d is the highest after %d of %v, want %d", seed, got, after, all, want)
				}
			}
			if len(h) > maxHistory {
				t.Fatalf("seed %d: a history of %d", seed, len(h))
			}
		}
		if got := merged(append([]write(nil), h...)); len(got) != len(h) || got.since(0) != h.since(0) {
			t.Errorf("seed %d: merged %v, want %v", seed, got, h)
		}
	}
}
