package feeds

import (
	"math/rand/v2"
	"testing"

	"github.com/kubewright/kubewright/runtime/shard"
)

// TestBrought checks what is known after each object that a request brings: with the first object that it
// didn't select, the server doesn't filter, and with 16 that it selected and no other before, it does. A
// request for everything shows nothing.
func TestBrought(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 41))
	half := shard.Ranges{{First: 0, Last: 1<<63 - 1}}
	for range 3000 {
		asked := half
		if r.IntN(5) == 0 {
			asked = shard.All()
		}
		start := Filtering{Lists: randomFilter(r), Watches: randomFilter(r)}
		known := start
		one := request{watch: r.IntN(2) == 0, selected: asked}
		want, seldom := start, 1+r.IntN(40)
		selected, strange := 0, false
		for n := range 40 {
			hash := r.Uint64() >> 1
			if r.IntN(seldom) == 0 {
				hash |= 1 << 63
			}
			one.recordArrival(hash, &known)
			now := Unknown
			switch isSelected := asked.Contains(hash); {
			case strange:
			case !isSelected:
				strange, now = true, Whole
			default:
				if selected++; selected == 16 && len(asked.Minus(half)) == 0 {
					now = Filtered
				}
			}
			switch {
			case now == Unknown:
			case one.watch:
				want.Watches = now
			default:
				// If lists are filtered that weren't before, what is known of watches is out of date.
				if now == Filtered && want.Lists == Whole {
					want.Watches = Unknown
				}
				want.Lists = now
			}
			if known != want {
				t.Fatalf("%+v, at first %v: after %d objects, %d of them selected: %v, want %v", one, start, n+1,
					selected, known, want)
			}
		}
	}
}

func randomFilter(r *rand.Rand) Filter { return []Filter{Unknown, Filtered, Whole}[r.IntN(3)] }

// TestWatchesAreWhole checks that lists tell of watches only while nothing is known of these.
func TestWatchesAreWhole(t *testing.T) {
	for filtering, want := range map[Filtering]bool{
		{Unknown, Unknown}: false, {Filtered, Unknown}: false, {Whole, Unknown}: true,
		{Unknown, Filtered}: false, {Filtered, Filtered}: false, {Whole, Filtered}: false,
		{Unknown, Whole}: true, {Filtered, Whole}: true, {Whole, Whole}: true,
	} {
		if got := filtering.watchesAreWhole(); got != want {
			t.Errorf("%v: %t", filtering, got)
		}
	}
}
