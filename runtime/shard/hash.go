package shard

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field is what of an object is hashed, as the API server names it.
type Field string

// The fields that the API server can hash.
const (
	// ByNamespace keeps the objects of a namespace together, of all kinds. Objects without a namespace are
	// together, too.
	ByNamespace Field = "object.metadata.namespace"
	// ByUID spreads the objects of each kind. An object that is deleted and created anew has another hash.
	ByUID Field = "object.metadata.uid"
)

// Check returns an error if the API server can't hash the field.
func (f Field) Check() error {
	if f != ByNamespace && f != ByUID {
		return fmt.Errorf("field %q can't be hashed: it must be %s or %s", string(f), ByNamespace, ByUID)
	}
	return nil
}

// Hash returns the hash of an object.
func (f Field) Hash(obj metav1.Object) uint64 {
	if f == ByUID {
		return Hash(string(obj.GetUID()))
	}
	return Hash(obj.GetNamespace())
}

// The parameters of 64-bit FNV-1a.
const (
	offsetBasis = 14695981039346656037
	prime       = 1099511628211
)

// Hash returns the hash of a namespace or of a UID: 64-bit FNV-1a, as the API server computes it.
func Hash(value string) uint64 {
	hash := uint64(offsetBasis)
	for i := range len(value) {
		hash = (hash ^ uint64(value[i])) * prime
	}
	return hash
}
