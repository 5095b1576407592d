package store

import (
	"hash/maphash"
	"math/bits"
)

// hasher hashes keys of stores, and labels. Its seed is random: keys and labels come
// from users of the cluster, who must not be able to choose colliding ones.
type hasher struct {
	seed  maphash.Seed
	words [4]uint64
}

// hashing is used by all stores.
var hashing = newHasher()

func newHasher() *hasher {
	h := &hasher{seed: maphash.MakeSeed()}
	for i := range h.words {
		h.words[i] = maphash.Comparable(h.seed, i)
	}
	return h
}

// tagOf returns the tag of a key. It panics, as maps do, if the key can't be hashed.
func tagOf[K comparable](h *hasher, key *K) uint32 {
	if first, second, ok := textsOf(key); ok {
		return uint32(h.texts(first, second) >> 32)
	}
	return uint32(maphash.Comparable(h.seed, *key) >> 32)
}

// texts is the hash of two texts, by folded products of 64 bits, as in wyhash
// (github.com/wangyi-fudan/wyhash, which Go's maps use where the processor offers
// nothing faster). For two texts of eight bytes or more it takes half the time of
// maphash.Comparable, since the hash of one doesn't wait for that of the other.
func (h *hasher) texts(first, second string) uint64 {
	w, n, m := &h.words, uint64(len(first)), uint64(len(second))
	x, y := w[0], w[2]
	for ; len(first) > 16; first = first[16:] {
		x = fold(x^eight(first), w[1]^eight(first[8:]))
	}
	for ; len(second) > 16; second = second[16:] {
		y = fold(y^eight(second), w[3]^eight(second[8:]))
	}
	if len(first) >= 8 {
		x = fold(x^eight(first), w[1]^eight(first[len(first)-8:]))
	} else {
		x = fold(x^few(first), w[1])
	}
	if len(second) >= 8 {
		y = fold(y^eight(second), w[3]^eight(second[len(second)-8:]))
	} else {
		y = fold(y^few(second), w[3])
	}
	return fold(x^n, y^m)
}

// few returns up to seven bytes.
func few(s string) (word uint64) {
	switch n := len(s); {
	case n >= 4:
		return four(s) | four(s[n-4:])<<32
	case n > 0:
		return uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	default:
		return 0
	}
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// four returns the first four bytes.
func four(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// eight returns the first eight bytes.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
