package queue

import (
	"math/rand/v2"
	"testing"
)

// TestTableIsAMap compares a table with a map while it grows, has runs of colliding hashes, and empties.
func TestTableIsAMap(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		table := newTable[int, uint32]()
		model := map[int]uint32{}
		// Few distinct hashes make long runs, and hashes at both ends make runs that wrap around.
		hash := table.hash
		if seed%2 == 0 {
			hash = func(i int) uint32 { return uint32(i%7)*0x2aaaaaaa + uint32(i%3) }
		}
		items := 1 + r.IntN(3000)
		for op := range 20_000 {
			item := r.IntN(items)
			id := table.find(hash(item), item)
			value, ok := model[item]
			if (id != 0) != ok {
				t.Fatalf("seed %d, op %d: find(%d) is %d, the map says %v", seed, op, item, id, ok)
			}
			if ok && (table.at(id).value != value || table.at(id).item != item) {
				t.Fatalf("seed %d, op %d: slot of %d is %+v, want %d", seed, op, item, *table.at(id), value)
			}
			switch {
			case ok && (r.IntN(3) > 0 || op > 15_000):
				table.remove(id)
				delete(model, item)
			case !ok && op <= 15_000:
				id := table.insert(hash(item), item)
				table.at(id).value = uint32(op)
				model[item] = uint32(op)
			}
			if table.len() != len(model) {
				t.Fatalf("seed %d, op %d: len is %d, want %d", seed, op, table.len(), len(model))
			}
		}
	}
}

func TestTableGivesBurstsBack(t *testing.T) {
	table := newTable[int, uint32]()
	cycle := func(n int) {
		for i := range n {
			table.insert(table.hash(i), i)
		}
		for i := range n {
			table.remove(table.find(table.hash(i), i))
		}
	}
	cycle(100_000)
	if len(table.cells) == 0 {
		t.Error("the slots are given back though the last use needed them")
	}
	if n := testing.AllocsPerRun(5, func() { cycle(100_000) }); n > 0 {
		t.Errorf("a regular burst allocates %v times", n)
	}
	cycle(10)
	if len(table.cells) != 0 || len(table.slots.pages) != 0 || cap(table.free) != 0 {
		t.Error("the slots of a burst are kept by a queue that has 10 items at most")
	}
}

func TestHashPanicsLikeAMap(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an item that can't be compared has a hash")
		}
	}()
	table := newTable[any, uint32]()
	table.hash([]int{1})
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("abcabcaabbcc"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		table := newTable[byte, uint32]()
		model := map[byte]bool{}
		for _, item := range ops {
			hash := uint32(item) * 0x3fffffff
			if id := table.find(hash, item); model[item] != (id != 0) {
				t.Fatalf("find(%d) is %d, the map says %v", item, id, model[item])
			} else if id != 0 {
				table.remove(id)
				delete(model, item)
			} else {
				table.insert(hash, item)
				model[item] = true
			}
		}
		for item := range model {
			if table.find(uint32(item)*0x3fffffff, item) == 0 {
				t.Fatalf("%d is lost", item)
			}
		}
	})
}
