package sources

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestContexts derives contexts from each other, and checks of each that it has the nearest function of
// either kind, or none.
func TestContexts(t *testing.T) {
	type derived struct {
		context.Context
		// waits and wanted are the numbers of its functions, 0 for none.
		waits, wanted int
	}
	r := rand.New(rand.NewPCG(1, 42))
	var calls []string
	all := []derived{{t.Context(), 0, 0}}
	for n := 1; n < 300; n++ {
		d := all[r.IntN(len(all))]
		switch r.IntN(3) {
		case 0:
			d.waits, d.Context = n, WithWaits(d.Context, func(begins bool) {
				calls = append(calls, fmt.Sprint("waits ", n, " ", begins))
			})
		case 1:
			d.wanted, d.Context = n, WithWanted(d.Context, func(namespace, uid string) bool {
				calls = append(calls, fmt.Sprint("wanted ", n, " ", namespace, " ", uid))
				return n%2 == 0
			})
		default:
			ctx, cancel := context.WithCancel(d.Context)
			defer cancel()
			d.Context = ctx
		}
		all = append(all, d)
	}
	for _, d := range all {
		calls = nil
		var want []string
		end := Waits(d)
		if d.waits > 0 {
			want = append(want, fmt.Sprint("waits ", d.waits, " true"))
		}
		if !slices.Equal(calls, want) {
			t.Fatalf("%+v: a wait begins: %q, want %q", d, calls, want)
		}
		if wanted := Wanted(d); (wanted != nil) != (d.wanted > 0) {
			t.Fatalf("%+v: it has a function: %t", d, wanted != nil)
		} else if wanted != nil {
			want = append(want, fmt.Sprint("wanted ", d.wanted, " town 7"))
			if got := wanted("town", "7"); got != (d.wanted%2 == 0) {
				t.Fatalf("%+v: wanted: %t", d, got)
			}
		}
		end()
		if d.waits > 0 {
			want = append(want, fmt.Sprint("waits ", d.waits, " false"))
		}
		if !slices.Equal(calls, want) {
			t.Fatalf("%+v: %q, want %q", d, calls, want)
		}
	}
}
