package shard

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Range is the hashes from First to Last, both included.
type Range struct{ First, Last uint64 }

// Contains reports whether a hash is in the range.
func (r Range) Contains(hash uint64) bool { return r.First <= hash && hash <= r.Last }

// String returns the bounds as the API server writes them, as in
// 0x0000000000000000-0x8000000000000000: the second one isn't part of the range.
func (r Range) String() string { return bound(r.First) + "-" + after(r.Last) }

// Ranges is a set of hashes: ranges in order that neither overlap nor touch, as [Join] returns them. The
// methods rely on that. nil is the empty set.
type Ranges []Range

// All returns the ranges of all hashes.
func All() Ranges { return Ranges{{0, math.MaxUint64}} }

// Join returns the union of ranges, which may be in any order, overlap and touch. A range whose Last is
// before its First contains nothing.
func Join(ranges ...Range) Ranges {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.Last < r.First })
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	var joined Ranges
	for _, r := range sorted {
		if n := len(joined); n > 0 && (joined[n-1].Last == math.MaxUint64 || r.First <= joined[n-1].Last+1) {
			joined[n-1].Last = max(joined[n-1].Last, r.Last)
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// Contains reports whether a hash is in one of the ranges.
func (r Ranges) Contains(hash uint64) bool {
	at, _ := slices.BinarySearchFunc(r, hash,
		func(r Range, hash uint64) int { return cmp.Compare(r.Last, hash) })
	return at < len(r) && r[at].First <= hash
}

// Covers reports whether all hashes of other are among the ranges.
func (r Ranges) Covers(other Ranges) bool { return len(other.Minus(r)) == 0 }

// Equal reports whether both contain the same hashes.
func (r Ranges) Equal(other Ranges) bool { return slices.Equal(r, other) }

// Plus returns the hashes of both.
func (r Ranges) Plus(other Ranges) Ranges { return Join(slices.Concat(r, other)...) }

// Minus returns the hashes that other doesn't contain.
func (r Ranges) Minus(other Ranges) Ranges { return r.And(other.not()) }

// And returns the hashes that both contain.
func (r Ranges) And(other Ranges) Ranges {
	var both []Range
	for _, a := range r {
		for _, b := range other {
			both = append(both, Range{max(a.First, b.First), min(a.Last, b.Last)})
		}
	}
	return Join(both...)
}

// not returns the hashes that aren't among the ranges.
func (r Ranges) not() Ranges {
	var rest []Range
	next := uint64(0)
	for _, one := range r {
		if one.First > next {
			rest = append(rest, Range{next, one.First - 1})
		}
		if one.Last == math.MaxUint64 {
			return rest
		}
		next = one.Last + 1
	}
	return append(rest, Range{next, math.MaxUint64})
}

// String returns the ranges, separated by spaces, or "none".
func (r Ranges) String() string {
	if len(r) == 0 {
		return "none"
	}
	texts := make([]string, len(r))
	for i, one := range r {
		texts[i] = one.String()
	}
	return strings.Join(texts, " ")
}
