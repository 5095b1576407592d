package sharding

import (
	"fmt"
	"hash/fnv"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"
)

// Field says what of an object is hashed, in the server's words (KEP-5866).
type Field string

// The fields that the API server can hash.
const (
	// ByNamespace keeps the objects of a namespace together, of all kinds. All objects without one are together, too.
	ByNamespace Field = "object.metadata.namespace"
	// ByUID spreads the objects of each kind. An object that is deleted and created anew has another place.
	ByUID Field = "object.metadata.uid"
)

// hash returns the place of an object: 64-bit FNV-1a, as the server computes it.
func (f Field) hash(obj metav1.Object) uint64 {
	if f == ByUID {
		return hashOf(string(obj.GetUID()))
	}
	return hashOf(obj.GetNamespace())
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// Range is the places from First to Last, both included.
type Range struct{ First, Last uint64 }

const lastPlace = 1<<64 - 1

// Contains reports whether a place is in the range.
func (r Range) Contains(place uint64) bool { return r.First <= place && place <= r.Last }

func (r Range) overlaps(other Range) bool { return r.First <= other.Last && other.First <= r.Last }

// String returns the bounds as the server writes them: the second one isn't part of the range.
func (r Range) String() string {
	return r.bound(r.First) + "-" + r.end()
}

func (Range) bound(place uint64) string { return fmt.Sprintf("0x%016x", place) }

func (r Range) end() string {
	if r.Last == lastPlace {
		return "0x10000000000000000"
	}
	return r.bound(r.Last + 1)
}

// selector returns the selector of lists and watches of the ranges, for metav1.ListOptions.ShardSelector. There must
// be at least one: an empty selector means all objects.
func selector(field Field, ranges []Range) string {
	requirements := make([]sharding.ShardRangeRequirement, len(ranges))
	for i, r := range ranges {
		requirements[i] = sharding.ShardRangeRequirement{Key: string(field), Start: r.bound(r.First), End: r.end()}
	}
	return sharding.NewSelector(requirements...).String()
}

// place is a hash in JSON: text, as numbers there have 53 bits.
type place uint64

func (p place) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(p)), nil }

func (p *place) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("%q is no place of 16 hexadecimal digits", text)
	}
	*p = place(n)
	return nil
}
