package queue

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap compares a table with a map while it grows and empties: no two items share a slot, and an
// item keeps its own.
func TestTableIsAMap(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		table := newTable[int]()
		model := map[int]state{}
		items := 1 + r.IntN(3000)
		for op := range 20_000 {
			item := r.IntN(items)
			id := table.find(item)
			want, ok := model[item]
			if (id != 0) != ok {
				t.Fatalf("seed %d, op %d: find(%d) is %d, the map says %v", seed, op, item, id, ok)
			}
			if ok && (table.at(id).state != want || table.at(id).item != item) {
				t.Fatalf("seed %d, op %d: slot of %d is %+v, want %d", seed, op, item, *table.at(id), want)
			}
			switch {
			case ok && (r.IntN(3) > 0 || op > 15_000):
				table.remove(id)
				delete(model, item)
			case !ok && op <= 15_000:
				slot := table.at(table.slotOf(item))
				if slot.state != 0 {
					t.Fatalf("seed %d, op %d: a new slot has the state %d", seed, op, slot.state)
				}
				slot.state = state(1 + r.IntN(7))
				model[item] = slot.state
			}
		}
	}
}

func TestTableGivesBurstsBack(t *testing.T) {
	table := newTable[int]()
	cycle := func(n int) (givenBack bool) {
		for i := range n {
			table.slotOf(i)
		}
		for i := range n {
			givenBack = table.remove(table.find(i))
		}
		return givenBack
	}
	for range 5 {
		if cycle(100_000) {
			t.Error("the slots are given back though the last use needed them")
		}
	}
	if !cycle(10) || len(table.slots.pages) != 0 || cap(table.free) != 0 {
		t.Error("the slots of a burst are kept by a queue that has 10 items at most")
	}
}

func TestAnItemThatCannotBeCompared(t *testing.T) {
	q := New(Config[any]{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an item that can't be compared is accepted")
			}
		}()
		q.Add([]int{1})
	}()
	if n := q.Len(); n != 0 { // It would hang if Add held the lock.
		t.Errorf("Len is %d", n)
	}
}
