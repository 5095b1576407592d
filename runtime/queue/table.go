package queue

import (
	"hash/maphash"
	"math/bits"
)

// table finds the slot of an item. A slot has an id, counted from 1, so that
// whatever else is known of an item (when it is due, how it ranks) can lie in
// arrays of its own that exist only where they are used. An id stays the
// item's until remove.
//
// The index is open addressing with linear probing. A cell holds an id and,
// in the bits that ids of a table of this size leave free, the low bits of the
// hash, so that a probe looks at few slots in vain; the high bits of the hash
// say where the cell's home is. Compared with a map of items, each item is
// stored once and hashed once an operation.
type table[T comparable, V any] struct {
	seed  maphash.Seed
	cells []uint32
	// width is that of the ids in a cell.
	width uint8
	slots paged[slot[T, V]]
	// free holds the ids of vacated slots, reused last in, first out.
	free []uint32
	// peak is the highest number of items since the table was last empty.
	peak int
}

type slot[T comparable, V any] struct {
	item  T
	hash  uint32
	value V
}

const (
	minCells = 8
	// An array of up to this many elements is kept whatever happens.
	keepSlots = 1024
)

func newTable[T comparable, V any]() table[T, V] {
	return table[T, V]{seed: maphash.MakeSeed()}
}

// hash panics when item's dynamic type can't be compared, as a map would.
func (t *table[T, V]) hash(item T) uint32 {
	return uint32(maphash.Comparable(t.seed, item))
}

func (t *table[T, V]) len() int { return t.slots.len() - len(t.free) }

// at returns the slot of id. The pointer is good until the next insert.
func (t *table[T, V]) at(id uint32) *slot[T, V] { return t.slots.at(int(id) - 1) }

// home is the cell where the search for a hash begins.
func (t *table[T, V]) home(hash uint32) int {
	return int(uint64(hash) * uint64(len(t.cells)) >> 32)
}

func (t *table[T, V]) next(cell int) int {
	if cell++; cell < len(t.cells) {
		return cell
	}
	return 0
}

// find returns the id of item, 0 when it has none.
func (t *table[T, V]) find(hash uint32, item T) uint32 {
	if len(t.cells) == 0 {
		return 0
	}
	width := t.width
	tag := hash << width
	for i := t.home(hash); ; i = t.next(i) {
		cell := t.cells[i]
		if cell == 0 {
			return 0
		}
		if (cell^tag)>>width == 0 {
			id := cell & (1<<width - 1)
			if s := t.at(id); s.hash == hash && s.item == item {
				return id
			}
		}
	}
}

// slotOf returns the id of item, a new one if it has none.
func (t *table[T, V]) slotOf(hash uint32, item T) uint32 {
	if id := t.find(hash, item); id != 0 {
		return id
	}
	return t.insert(hash, item)
}

// insert gives item, which must not be there, a slot with a zero value.
func (t *table[T, V]) insert(hash uint32, item T) uint32 {
	// At most four fifths of the cells are taken.
	if n := t.len() + 1; n*5 > len(t.cells)*4 {
		t.grow()
	}
	var id uint32
	if last := len(t.free) - 1; last >= 0 {
		id = t.free[last]
		t.free = t.free[:last]
	} else {
		t.slots.grow(t.slots.len() + 1)
		id = uint32(t.slots.len())
	}
	s := t.at(id)
	s.item, s.hash = item, hash
	t.peak = max(t.peak, t.len())
	t.place(hash, id)
	return id
}

// remove vacates the slot of id. It tells whether that was the last one, and a
// burst's memory has been given back: then whoever keeps arrays by id does the
// same.
func (t *table[T, V]) remove(id uint32) (givenBack bool) {
	mask := uint32(1)<<t.width - 1
	hole := t.home(t.at(id).hash)
	for t.cells[hole]&mask != id {
		hole = t.next(hole)
	}
	// Close the gap: a later cell of the run moves into the hole unless its
	// home lies behind the hole, where it would no longer be found.
	for i := t.next(hole); t.cells[i] != 0; i = t.next(i) {
		home := t.home(t.at(t.cells[i] & mask).hash)
		if t.distance(home, i) >= t.distance(hole, i) {
			t.cells[hole] = t.cells[i]
			hole = i
		}
	}
	t.cells[hole] = 0
	*t.at(id) = slot[T, V]{}
	t.free = append(t.free, id)
	return t.len() == 0 && t.emptied()
}

// distance is the number of steps from one cell to another.
func (t *table[T, V]) distance(from, to int) int {
	if to >= from {
		return to - from
	}
	return to - from + len(t.cells)
}

// emptied starts the slots afresh, and gives them back when the table was far
// from needing them since it was last empty: one burst must not hold its
// memory for ever, and a regular one must not allocate it each time.
func (t *table[T, V]) emptied() (givenBack bool) {
	givenBack = len(t.cells) > keepSlots && t.peak*8 < len(t.cells)
	if givenBack {
		t.clear()
	} else {
		t.slots.reset()
		t.free = t.free[:0]
		t.peak = 0
	}
	return givenBack
}

// clear forgets all items and gives their memory back. What was hashed before is
// good for the table afterwards, too.
func (t *table[T, V]) clear() {
	t.cells, t.slots, t.free, t.peak = nil, paged[slot[T, V]]{}, nil, 0
}

// grow makes half as many more cells. There are always as many slots as there
// ever were items, since the start or since they were started afresh, and as
// many cells as those need. So when the cells are too few no slot is free.
func (t *table[T, V]) grow() {
	t.cells = make([]uint32, max(minCells, len(t.cells)*3/2))
	t.width = uint8(bits.Len(uint(len(t.cells))))
	for id := range uint32(t.slots.len()) {
		t.place(t.at(id+1).hash, id+1)
	}
}

func (t *table[T, V]) place(hash, id uint32) {
	i := t.home(hash)
	for t.cells[i] != 0 {
		i = t.next(i)
	}
	t.cells[i] = hash<<t.width | id
}
