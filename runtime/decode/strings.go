package decode

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	// longestShared is the length of the longest string that is looked for.
	longestShared = 128
	// The table has so many buckets at first, and four times as many whenever
	// there were twice as many misses as it has buckets, up to the largest:
	// 256 KB, and at most 2 MB of strings that nothing else uses.
	smallestTable = 1 << 8
	largestTable  = 1 << 13
)

// table holds strings that were seen, for others to share. It is a cache: of
// two strings with the same bucket the one that was found again stays, and a
// new one takes the place of what wasn't. So it is bounded, and a string that
// is gone from all objects is gone from it before long.
type table struct {
	buckets []bucket
	misses  int
}

// bucket has a place for a string that repeats and one for a string that may.
type bucket struct{ proven, recent string }

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
	if t.misses >= 2*len(t.buckets) && len(t.buckets) < largestTable {
		t.grow()
	}
	b := &t.buckets[hash(content)&uint32(len(t.buckets)-1)]
	if b.proven == string(content) {
		return b.proven
	}
	if b.recent == string(content) {
		b.proven, b.recent = b.recent, b.proven
		return b.proven
	}
	t.misses++
	b.recent = string(content)
	return b.recent
}

// share is get for what is a string already.
func (t *table) share(s string) string {
	if len(s) == 0 || len(s) > longestShared {
		return s
	}
	if t.misses >= 2*len(t.buckets) && len(t.buckets) < largestTable {
		t.grow()
	}
	b := &t.buckets[hash(unsafe.Slice(unsafe.StringData(s), len(s)))&uint32(len(t.buckets)-1)]
	switch s {
	case b.proven:
	case b.recent:
		b.proven, b.recent = b.recent, b.proven
	default:
		t.misses++
		b.recent = s
		return s
	}
	return b.proven
}

func (t *table) grow() {
	before := t.buckets
	t.misses = 0
	t.buckets = make([]bucket, min(max(4*len(before), smallestTable), largestTable))
	for _, b := range before {
		for _, s := range []string{b.recent, b.proven} {
			if s != "" {
				to := &t.buckets[hash([]byte(s))&uint32(len(t.buckets)-1)]
				to.proven, to.recent = s, to.proven
			}
		}
	}
}

// hash mixes the length and up to 32 bytes, the first and the last 16. Strings
// that differ elsewhere only compete for a place.
func hash(s []byte) uint32 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(len(s)) * k
	mix := func(w uint64) {
		hi, lo := bits.Mul64(h^w, k)
		h = hi ^ lo
	}
	n := len(s)
	switch {
	case n >= 8:
		mix(binary.LittleEndian.Uint64(s))
		if n > 16 {
			mix(binary.LittleEndian.Uint64(s[n-16:]))
			mix(binary.LittleEndian.Uint64(s[8:]))
		}
		mix(binary.LittleEndian.Uint64(s[n-8:]))
	case n >= 4:
		mix(uint64(binary.LittleEndian.Uint32(s))<<32 | uint64(binary.LittleEndian.Uint32(s[n-4:])))
	default:
		mix(uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1]))
	}
	return uint32(h >> 32)
}
