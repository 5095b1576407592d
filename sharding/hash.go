package sharding

import (
	"math"

	"github.com/kubewright/kubewright/runtime/shard"
)

// Field is what of an object is hashed. Informers of a part select by it, too.
type Field = shard.Field

// Range is the hashes from First to Last, both included. Its text ends with the hash after Last, as in the
// API server's selectors.
type Range = shard.Range

// The fields that the API server can hash.
const (
	// ByNamespace keeps the objects of a namespace together, of all kinds. Objects without a namespace are
	// together, too.
	ByNamespace = shard.ByNamespace
	// ByUID spreads the objects of each kind. An object that is deleted and created anew has another hash.
	ByUID = shard.ByUID
)

// Hash returns the hash of a namespace or of a UID: 64-bit FNV-1a, as the API server computes it.
func Hash(value string) uint64 { return shard.Hash(value) }

const lastHash = math.MaxUint64

var everything = Range{First: 0, Last: lastHash}

func overlap(a, b Range) bool { return a.First <= b.Last && b.First <= a.Last }
