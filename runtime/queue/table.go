package queue

import "hash/maphash"

// table finds the slot of an item. Slots live in one slice and are named by
// an id, their index plus one, so that whatever else is known of an item
// (when it is due, how it ranks) can lie in slices of its own that exist only
// where they are used. An id stays the item's until remove.
//
// The index is open addressing with linear probing: a cell holds the item's
// hash above the id of its slot, so a probe looks at a slot only when the
// hashes agree, and growing never looks at one. Compared with a map, an item
// is stored once and an operation hashes it once.
type table[T comparable, V any] struct {
	seed  maphash.Seed
	cells []uint64
	slots []slot[T, V]
	// free holds the ids of vacated slots, reused last in, first out.
	free []uint32
	// peak is the highest number of items since the table was last empty.
	peak int
}

type slot[T comparable, V any] struct {
	item  T
	value V
}

const (
	minCells = 8
	// Slices of up to this many slots are kept whatever happens.
	keepSlots = 1024
)

func newTable[T comparable, V any]() table[T, V] {
	return table[T, V]{seed: maphash.MakeSeed()}
}

// hash panics when item's dynamic type can't be compared, as a map would.
func (t *table[T, V]) hash(item T) uint32 {
	return uint32(maphash.Comparable(t.seed, item))
}

func (t *table[T, V]) len() int { return len(t.slots) - len(t.free) }

// at returns the slot of id. The pointer is good until the next insert.
func (t *table[T, V]) at(id uint32) *slot[T, V] { return &t.slots[id-1] }

// find returns the id of item, 0 when it has none.
func (t *table[T, V]) find(hash uint32, item T) uint32 {
	if len(t.cells) == 0 {
		return 0
	}
	mask := uint32(len(t.cells) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		cell := t.cells[i]
		if cell == 0 {
			return 0
		}
		if uint32(cell>>32) == hash && t.slots[uint32(cell)-1].item == item {
			return uint32(cell)
		}
	}
}

// insert gives item, which must not be there, a slot with a zero value.
func (t *table[T, V]) insert(hash uint32, item T) uint32 {
	// At most three quarters of the cells are taken.
	if n := t.len() + 1; n*4 > len(t.cells)*3 {
		t.grow()
	}
	var id uint32
	if last := len(t.free) - 1; last >= 0 {
		id = t.free[last]
		t.free = t.free[:last]
		t.slots[id-1].item = item
	} else {
		t.slots = append(t.slots, slot[T, V]{item: item})
		id = uint32(len(t.slots))
	}
	t.peak = max(t.peak, t.len())
	t.place(uint64(hash)<<32 | uint64(id))
	return id
}

// remove vacates the slot of id, whose item has this hash.
func (t *table[T, V]) remove(hash, id uint32) {
	mask := uint32(len(t.cells) - 1)
	hole := hash & mask
	for cell := uint64(hash)<<32 | uint64(id); t.cells[hole] != cell; {
		hole = (hole + 1) & mask
	}
	// Close the gap: a later cell of the run moves into the hole unless its
	// own place lies behind the hole, where it would no longer be found.
	for i := (hole + 1) & mask; t.cells[i] != 0; i = (i + 1) & mask {
		home := uint32(t.cells[i]>>32) & mask
		if (i-home)&mask >= (i-hole)&mask {
			t.cells[hole] = t.cells[i]
			hole = i
		}
	}
	t.cells[hole] = 0
	t.slots[id-1] = slot[T, V]{}
	t.free = append(t.free, id)
	if t.len() == 0 {
		t.emptied()
	}
}

// emptied starts the slots afresh, and gives them back when the table was far
// from needing them since it was last empty: one burst must not hold its
// memory for ever, and a regular one must not allocate it each time.
func (t *table[T, V]) emptied() {
	if len(t.cells) > keepSlots && t.peak*8 < len(t.cells) {
		t.cells, t.slots, t.free = nil, nil, nil
	} else {
		t.slots, t.free = t.slots[:0], t.free[:0]
	}
	t.peak = 0
}

func (t *table[T, V]) grow() {
	old := t.cells
	t.cells = make([]uint64, max(minCells, 2*len(old)))
	for _, cell := range old {
		if cell != 0 {
			t.place(cell)
		}
	}
}

func (t *table[T, V]) place(cell uint64) {
	mask := uint32(len(t.cells) - 1)
	i := uint32(cell>>32) & mask
	for t.cells[i] != 0 {
		i = (i + 1) & mask
	}
	t.cells[i] = cell
}
