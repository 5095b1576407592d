// Package listwatch lists and watches the objects of one resource for reflectors.
//
// [FromClient] makes a source of a generated typed client, [FromListerWatcher] of any
// [k8s.io/client-go/tools/cache.ListerWatcher]. Where nothing but the client stands between
// the server and the source, lists and watches are decoded while they arrive: for a client
// that implements [Streaming], as generated ones do, for the lister-watchers that [Streamed]
// returns, and for dynamic and metadata clients, if their HTTP client has the transport of
// [Wrap]. Other lists are read in one piece; their items are copied out of the list, so that
// one that is kept doesn't keep all others in memory.
//
// A list function is called with a context by which the transport knows its requests. The
// result is what the transport read, not what the function returns: an error after the
// first item fails the list, even if the function returns none. A function that lists a
// collection twice is read from its last list, one that lists several collections as
// client-go reads it.
package listwatch

import (
	"k8s.io/apimachinery/pkg/types"
)

// Streaming is implemented, in addition to List and Watch, by the client of a resource (what
// client.CoreV1().Pods(namespace) returns) to describe its requests. FromClient
// then makes the same requests itself, instead of calling List and Watch, and decodes
// each object straight into its type while the response arrives. Everything that
// client-go does about requests still happens: rate limits, retries, warnings, errors.
//
// These are read in one piece: clients that aren't a [*k8s.io/client-go/rest.RESTClient]
// that decodes without conversions, all where CBOR is allowed or responses are logged
// (klog's level 8), and responses that aren't JSON or protobuf of the expected kind. Two
// things differ for streamed responses: the metric of response sizes counts lists
// without their items, and the error for an object that can't be decoded tells where it is.
//
// FromClient checks the client itself, never its RESTClient(): a wrapper or a fake, which has only the
// methods of the generated interface, is read through those methods.
type Streaming interface {
	RESTResource() RESTResource
}

// Writing is implemented, in addition to List and Watch, by the client of a resource that remembers the
// writes of its clientset. Informers use the client that they list with; a wrapper hides this method, as it
// hides Streaming.
type Writing interface {
	// Written returns what was written in a namespace, or in all if it is "", and what was deleted in any
	// namespace since the deletion with the sequence number after. A client of a single namespace knows only
	// that one. ok is false if the client doesn't remember writes.
	Written(namespace string, after uint64) (written Written, ok bool)
}

// Written contains what a client remembers of its writes.
type Written struct {
	// ResourceVersion is the highest in the responses to writes, or "" if there is none.
	ResourceVersion string
	// Deletions are those whose resourceVersion isn't known, in order.
	Deletions []Deletion
}

// Deletion is a deletion whose resourceVersion isn't known.
type Deletion struct {
	// Sequence numbers the deletions of a resource, from 1 on.
	Sequence        uint64
	Namespace, Name string
	UID             types.UID
	// After is the highest version that was written in the namespace before, or "". A cache that is older may
	// not have seen the object yet.
	After string
}
