package sharding

import (
	"fmt"
	"hash/fnv"
	"math"
)

// Field says what of an object is hashed, in the API server's words.
type Field string

// The fields that the API server can hash.
const (
	// ByNamespace keeps the objects of a namespace together, of all kinds. Objects without a namespace are
	// together, too.
	ByNamespace Field = "object.metadata.namespace"
	// ByUID spreads the objects of each kind. An object that is deleted and created anew has another hash.
	ByUID Field = "object.metadata.uid"
)

// Hash returns the hash of a namespace or of a UID: 64-bit FNV-1a, as the API server computes it.
func Hash(value string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(value)) // never fails
	return h.Sum64()
}

// Range is the hashes from First to Last, both included.
type Range struct{ First, Last uint64 }

const lastHash = math.MaxUint64

var everything = Range{0, lastHash}

// Contains reports whether a hash is in the range.
func (r Range) Contains(hash uint64) bool { return r.First <= hash && hash <= r.Last }

func (r Range) overlaps(other Range) bool { return r.First <= other.Last && other.First <= r.Last }

// String returns the bounds as the API server writes them: the second one isn't part of the range.
func (r Range) String() string {
	if r.Last == lastHash {
		return fmt.Sprintf("0x%016x-0x10000000000000000", r.First)
	}
	return fmt.Sprintf("0x%016x-0x%016x", r.First, r.Last+1)
}
