package store

// table leads from the hash of a key to its slot: open addressing with linear
// probing. An entry is the upper half of the hash beside slot+1, so probing
// rarely looks at a key and growing never does; zero is an empty entry.
type table struct {
	entries []uint64
	// shift leaves the bits of a tag that say where its probing starts.
	shift uint8
	used  int
}

const minTable = 8

func entryOf(tag, slot uint32) uint64 { return uint64(tag)<<32 | uint64(slot+1) }

func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

func (t *table) mask() uint32 { return uint32(len(t.entries) - 1) }

// insert adds a slot whose key isn't in the table.
func (t *table) insert(tag, slot uint32) {
	// Four fifths keeps a hit at about three probes in one cache line.
	if (t.used+1)*5 > len(t.entries)*4 {
		t.resize(max(minTable, 2*len(t.entries)))
	}
	t.place(entryOf(tag, slot))
	t.used++
}

func (t *table) place(entry uint64) {
	mask := t.mask()
	i := uint32(entry>>32) >> t.shift
	for t.entries[i] != 0 {
		i = (i + 1) & mask
	}
	t.entries[i] = entry
}

// resize moves the entries to a table of size, a power of two. The start of a
// probe is the tag's upper bits, so both tables are walked in order.
func (t *table) resize(size int) {
	old := t.entries
	t.entries = make([]uint64, size)
	t.shift = 32
	for ; size > 1; size >>= 1 {
		t.shift--
	}
	for _, entry := range old {
		if entry != 0 {
			t.place(entry)
		}
	}
}

// locate returns the position of the entry of a slot that is in the table.
func (t *table) locate(tag, slot uint32) uint32 {
	mask := t.mask()
	want := entryOf(tag, slot)
	i := tag >> t.shift
	for t.entries[i] != want {
		i = (i + 1) & mask
	}
	return i
}

// move says that what was in slot from is in slot to.
func (t *table) move(tag, from, to uint32) {
	t.entries[t.locate(tag, from)] = entryOf(tag, to)
}

// remove takes a slot out and closes the gap, so that no probe ends early.
func (t *table) remove(tag, slot uint32) {
	mask := t.mask()
	gap := t.locate(tag, slot)
	for i := (gap + 1) & mask; t.entries[i] != 0; i = (i + 1) & mask {
		home := uint32(t.entries[i]>>32) >> t.shift
		// An entry may move back as far as its home.
		if (i-home)&mask >= (i-gap)&mask {
			t.entries[gap] = t.entries[i]
			gap = i
		}
	}
	t.entries[gap] = 0
	t.used--
	if len(t.entries) > minTable && t.used*8 < len(t.entries) {
		t.resize(len(t.entries) / 2)
	}
}
