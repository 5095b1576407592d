package queue

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHeapSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var h heap
		var want []node
		for i := range n {
			nd := node{key: int64(r.IntN(n/4 + 1)), seq: uint32(math.MaxUint32 - 50 + i), id: uint32(i)}
			h.push(nd)
			want = append(want, nd)
		}
		if n%2 == 1 {
			live := func(n node) bool { return n.id%3 != 0 }
			h.compact(live)
			want = slices.DeleteFunc(want, func(n node) bool { return !live(n) })
		}
		slices.SortStableFunc(want, func(a, b node) int { return cmp.Compare(a.key, b.key) })
		for i, w := range want {
			if got := h.pop(); got != w {
				t.Fatalf("%d nodes: number %d is %+v, want %+v", n, i, got, w)
			}
		}
		if len(h.nodes) != 0 {
			t.Fatalf("%d nodes left", len(h.nodes))
		}
	}
}

// TestScheduleIsASortedList compares a schedule with a list that is sorted at each step, while sequence
// numbers wrap around.
func TestScheduleIsASortedList(t *testing.T) {
	type entry struct {
		id       uint32
		due      int64
		priority int32
		order    int
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		line := schedule{seq: math.MaxUint32 - 2000}
		var model []entry
		now := int64(0)
		for op := range 6000 {
			id := uint32(1 + r.IntN(500))
			i := slices.IndexFunc(model, func(e entry) bool { return e.id == id })
			switch what := r.IntN(10); {
			case what < 6:
				due, priority := now+int64(r.IntN(3+int(seed)*10)), int32(r.IntN(5))
				line.set(id, due, priority)
				switch {
				case i < 0:
					model = append(model, entry{id, due, priority, op})
				case due < model[i].due:
					model[i] = entry{id, due, max(priority, model[i].priority), op}
				default:
					model[i].priority = max(priority, model[i].priority)
				}
			case what < 8:
				if got := line.cancel(id); got != (i >= 0) {
					t.Fatalf("seed %d, op %d: cancel(%d) is %v", seed, op, id, got)
				}
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			default:
				now += int64(r.IntN(30))
				slices.SortFunc(model, func(a, b entry) int {
					return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.order, b.order))
				})
				for {
					id, priority := line.pop(now)
					if len(model) == 0 || model[0].due > now {
						if id != 0 {
							t.Fatalf("seed %d, op %d: %d is popped early", seed, op, id)
						}
						break
					}
					if id != model[0].id || priority != model[0].priority {
						t.Fatalf("seed %d, op %d: popped %d with %d, want %+v", seed, op, id,
							priority, model[0])
					}
					model = model[1:]
				}
			}
			if line.n != len(model) {
				t.Fatalf("seed %d, op %d: %d are due, want %d", seed, op, line.n, len(model))
			}
			if waste := len(line.heap.nodes); waste > 2*line.n+64 {
				t.Fatalf("seed %d, op %d: %d nodes for %d", seed, op, waste, line.n)
			}
		}
	}
}
