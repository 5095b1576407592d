package decode

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	// longestShared is the length of the longest string that is looked for.
	longestShared = 128
	// The table has so many sets at first, and four times as many whenever there
	// were four times as many misses as it has sets, up to the largest: 260 KB,
	// and at most 2 MB of strings that nothing else uses.
	smallestTable = 1 << 7
	largestTable  = 1 << 12
)

// table holds strings that were seen, for others to share. It is a cache of sets
// of four, each of which gives its strings a second chance in turn: a new one
// takes the place of one that wasn't found since its last turn. So it is bounded,
// strings that repeat stay whatever else goes through, and a string that is gone
// from all objects is gone from it before long.
type table struct {
	sets []set
	// states say of each set which of its strings were found, one bit each, and
	// whose turn it is, in the bits above.
	states []uint8
	misses int
}

// set fits a line of the processor's cache.
type set [ways]string

const ways = 4

// get returns a string of that content, if possible one that was returned
// before.
func (t *table) get(content []byte) string {
	n := len(content)
	if n == 0 {
		return ""
	}
	if n > longestShared {
		return string(content)
	}
	i := t.place(content)
	for j, s := range &t.sets[i] {
		if s == string(content) {
			t.states[i] |= 1 << j
			return s
		}
	}
	return t.add(i, string(content))
}

// share is get for what is a string already.
func (t *table) share(s string) string {
	if len(s) == 0 || len(s) > longestShared {
		return s
	}
	i := t.place(unsafe.Slice(unsafe.StringData(s), len(s)))
	for j, known := range &t.sets[i] {
		if known == s {
			t.states[i] |= 1 << j
			return known
		}
	}
	return t.add(i, s)
}

// place is the number of the set that a string can be in.
func (t *table) place(content []byte) uint32 {
	if t.misses >= ways*len(t.sets) && len(t.sets) < largestTable {
		t.grow()
	}
	return hash(content) & uint32(len(t.sets)-1)
}

// add puts a string that wasn't found into its set. It returns it.
func (t *table) add(i uint32, s string) string {
	t.misses++
	t.put(i, s, 0)
	return s
}

// put puts a string into a set; found says whether it was found before.
func (t *table) put(i uint32, s string, found uint8) {
	state := t.states[i]
	turn := state >> ways
	for ; state>>turn&1 != 0; turn = (turn + 1) % ways {
		state &^= 1 << turn
	}
	t.sets[i][turn] = s
	t.states[i] = state&(1<<ways-1) | found<<turn | (turn+1)%ways<<ways
}

func (t *table) grow() {
	before := *t
	n := min(max(4*len(before.sets), smallestTable), largestTable)
	*t = table{sets: make([]set, n), states: make([]uint8, n)}
	for i := range before.sets {
		for j, s := range &before.sets[i] {
			if s != "" {
				t.put(t.place(unsafe.Slice(unsafe.StringData(s), len(s))), s, before.states[i]>>j&1)
			}
		}
	}
}

// hash mixes the length and the content.
func hash(s []byte) uint32 {
	const k, l = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	n := len(s)
	h := uint64(n) * k
	var first, last uint64
	switch {
	case n >= 8:
		for rest := s; len(rest) > 16; rest = rest[16:] {
			h = mix(h^binary.LittleEndian.Uint64(rest), l^binary.LittleEndian.Uint64(rest[8:]))
		}
		first, last = binary.LittleEndian.Uint64(s[max(n-16, 0):]), binary.LittleEndian.Uint64(s[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(s)), uint64(binary.LittleEndian.Uint32(s[n-4:]))
	default:
		first = uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	}
	return uint32(mix(h^first, l^last) >> 32)
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
