// Package shard divides the objects of a resource by a hash, as the API server does since 1.36 for requests
// with a ShardSelector ([k8s.io/apimachinery/pkg/apis/meta/v1.ListOptions], KEP-5866, feature gate
// ShardedListAndWatch).
//
// The hash is 64-bit FNV-1a of an object's namespace or UID, see [Field]. A part of the objects is given by
// [Ranges] of hashes. [Selector] and [ParseSelector] translate these to and from the server's selectors.
//
// Everything here is a value, and safe for concurrent use unless it is modified.
package shard
