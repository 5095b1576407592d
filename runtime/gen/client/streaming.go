package client

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Streaming is implemented, in addition to List and Watch, by the client of a resource (what
// client.CoreV1().Pods(namespace) returns) to describe its requests. Informers
// then make the same requests themselves, instead of calling List and Watch, and decode
// each object straight into its type while the response arrives. client-go still handles
// rate limits, retries, warnings and errors.
//
// Responses are read in one piece if the client isn't a [*k8s.io/client-go/rest.RESTClient]
// that decodes without conversions, if CBOR is allowed, if the bodies of responses are logged
// (klog's level 8), or if the response isn't JSON or protobuf of the expected kind. Two
// things differ for streamed responses: the metric of response sizes counts lists
// without their items, and the error for an object that can't be decoded locates it.
//
// Informers check the client itself, never its RESTClient(): a wrapper or a fake, which has only the
// methods of the generated interface, is read through those methods.
type Streaming interface {
	RESTResource() RESTResource
}

// Writing is implemented, in addition to List and Watch, by the client of a resource that remembers the
// writes of its clientset. Informers use it on the client that they list with. A wrapper of a client hides
// this method, as it hides that of Streaming.
type Writing interface {
	// Written returns what was written in a namespace, or in all namespaces if it is "", and what was deleted
	// in any namespace since the deletion with the sequence number after. A client of a single namespace
	// remembers only the writes in that one. ok is false if the client doesn't remember writes.
	Written(namespace string, after uint64) (written Written, ok bool)
}

// Written contains what a client remembers of its writes.
type Written struct {
	// ResourceVersion is the highest in the responses to writes, or "" if there is none.
	ResourceVersion string
	// Deletions are those after which no object was returned, in order.
	Deletions []Deletion
	// Sequence is the number of the last write or deletion, 0 if the client doesn't number writes.
	Sequence uint64
}

// Deletion is a deletion whose response is a status. UID or ResourceVersion is known.
type Deletion struct {
	// Sequence numbers the writes and deletions of a resource, in the order of their responses, from 1 on.
	Sequence        uint64
	Namespace, Name string
	// UID is that of the deleted object, "" if the response doesn't have it.
	UID types.UID
	// ResourceVersion is the version of the deletion, which servers return from Kubernetes 1.38 on, or "".
	ResourceVersion string
	// After is the highest version that was written in the namespace before, or "". A cache that is older may
	// not have seen the object yet.
	After string
}

// RESTResource describes how to request a resource with client-go's REST client.
type RESTResource struct {
	// Client sends the requests.
	Client rest.Interface
	// Request makes the request of a list, or of a watch if opts.Watch is set.
	Request func(client rest.Interface, opts *metav1.ListOptions) *rest.Request
	// List is the type of the resource's lists, a pointer.
	List reflect.Type
}
