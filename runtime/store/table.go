package store

import "slices"

// table leads from the tag of a key, the upper half of its hash, to its slot:
// open addressing with linear probing. It is small, for a processor's cache to
// hold more of it: an entry is slot+1 in as many lower bits as the table's size
// takes, and above them as many bits of the tag as are left, those which don't
// say where its probing starts. Zero is an empty entry.
type table struct {
	entries []uint32
	// bits is the number of those lower bits.
	bits uint8
	// tags of all slots: growing and deleting look at no key.
	tags []uint32
}

const minTable = 8

func tagOf(hash uint64) uint32 { return uint32(hash >> 32) }

func (t *table) mask() uint32 { return uint32(len(t.entries) - 1) }

// home is where the probing for a tag starts.
func (t *table) home(tag uint32) uint32 { return tag >> ((32 - t.bits) & 31) }

// entry is what stands for a slot with that tag.
func (t *table) entry(tag, slot uint32) uint32 { return tag<<(t.bits&31) | (slot + 1) }

// first returns the first slot that may have a key of that tag, if any, and its
// position for next.
func (t *table) first(tag uint32) (slot, at uint32, ok bool) {
	if len(t.entries) == 0 {
		return 0, 0, false
	}
	return t.next(tag, t.home(tag)-1)
}

// next returns the first after a position.
func (t *table) next(tag, at uint32) (slot, next uint32, ok bool) {
	mask := t.mask()
	want := t.entry(tag, 0) &^ mask
	for {
		at = (at + 1) & mask
		switch entry := t.entries[at]; {
		case entry == 0:
			return 0, 0, false
		case entry&^mask == want:
			return entry&mask - 1, at, true
		}
	}
}

// add adds the next slot. Its key must not be in the table.
func (t *table) add(tag uint32) {
	slot := uint32(len(t.tags))
	t.tags = append(t.tags, tag)
	// Four fifths keeps a hit at about three probes in one cache line.
	if len(t.tags)*5 > len(t.entries)*4 {
		t.resize(max(minTable, 2*len(t.entries)))
	}
	t.place(slot)
}

func (t *table) place(slot uint32) {
	mask, tag := t.mask(), t.tags[slot]
	i := t.home(tag)
	for t.entries[i] != 0 {
		i = (i + 1) & mask
	}
	t.entries[i] = t.entry(tag, slot)
}

// resize moves the entries to a table of size, a power of two. The start of a
// probe is the tag's upper bits, so both tables are walked in order.
func (t *table) resize(size int) {
	old, mask := t.entries, t.mask()
	t.entries, t.bits = make([]uint32, size), 0
	for ; size > 1; size >>= 1 {
		t.bits++
	}
	for _, entry := range old {
		if entry != 0 {
			t.place(entry&mask - 1)
		}
	}
}

// locate returns the position of the entry of a slot that is in the table.
func (t *table) locate(slot uint32) uint32 {
	mask, tag := t.mask(), t.tags[slot]
	want := t.entry(tag, slot)
	i := t.home(tag)
	for t.entries[i] != want {
		i = (i + 1) & mask
	}
	return i
}

// remove takes a slot out. What is in the last slot gets its place.
func (t *table) remove(slot uint32) {
	t.close(t.locate(slot))
	last := uint32(len(t.tags) - 1)
	if slot != last {
		i := t.locate(last)
		t.tags[slot] = t.tags[last]
		t.entries[i] = t.entry(t.tags[slot], slot)
	}
	t.tags = t.tags[:last]
	if len(t.entries) > minTable && len(t.tags)*8 < len(t.entries) {
		t.resize(len(t.entries) / 2)
		t.tags = slices.Clone(t.tags)
	}
}

// close empties an entry and closes the gap, so that no probe ends early.
func (t *table) close(gap uint32) {
	mask := t.mask()
	for i := (gap + 1) & mask; t.entries[i] != 0; i = (i + 1) & mask {
		home := t.home(t.tags[t.entries[i]&mask-1])
		// An entry may move back as far as its home.
		if (i-home)&mask >= (i-gap)&mask {
			t.entries[gap] = t.entries[i]
			gap = i
		}
	}
	t.entries[gap] = 0
}
