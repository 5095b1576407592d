// Package listwatch is where objects come from: a typed source that can be
// listed in pages and watched. The reflector reads from it and nothing else.
//
// FromClient makes a source of any generated typed client, FromListerWatcher of any
// [k8s.io/client-go/tools/cache.ListerWatcher]. Of a client that implements
// Streaming, as generated ones do, lists and watches are decoded while they arrive.
// Elsewhere they are taken as the client hands them over, and the items of a list
// are allocated apart, so that one that is kept doesn't keep the others.
package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Source yields the objects of one resource. Implementations are safe for
// concurrent use.
type Source interface {
	// List asks for one page. It hands each object to item as soon as it has
	// it; an error of item ends the list and is returned. Objects handed over
	// belong to the receiver.
	List(ctx context.Context, opts metav1.ListOptions, item func(any) error) (ListMeta, error)
	// Watch opens a stream of changes. The stream ends with ctx or Stop.
	Watch(ctx context.Context, opts metav1.ListOptions) (Stream, error)
}

// ListMeta is what a page says beside its items.
type ListMeta struct {
	ResourceVersion string
	// Continue is empty on the last page.
	Continue string
}

// Stream is an open watch, for one reader.
type Stream interface {
	// Next blocks until an event arrives. It returns io.EOF when the server
	// closed the stream in good order, ctx's error when ctx is done, and for
	// an Error event of the server the error that the status stands for.
	Next(ctx context.Context) (Event, error)
	// Stop ends the stream and releases what it holds. It is idempotent and
	// may be called while Next blocks, which then returns.
	Stop()
}

// Event is one change on a watch.
type Event struct {
	// Type is Added, Modified, Deleted or Bookmark, never Error.
	Type watch.EventType
	// Object is nil for a bookmark.
	Object any
	// ResourceVersion is the object's, or the bookmark's.
	ResourceVersion string
	// InitialEventsEnd marks the bookmark that ends the initial events of a
	// streamed list.
	InitialEventsEnd bool
}

// Client is the part of a generated typed client that lists and watches.
type Client[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Streaming is implemented, beside Client, by a resource's client (what
// client.CoreV1().Pods(namespace) returns) that says how it asks client-go's REST
// client. FromClient then asks in the same way in place of List and Watch, and
// decodes what the server sends while it arrives, each object straight into its
// type. All that client-go does about requests happens: limits, retries, warnings,
// errors.
//
// What can't be streamed is read in one piece: where the REST client isn't
// a [*k8s.io/client-go/rest.RESTClient] that decodes without conversions, where
// CBOR is allowed, where responses are logged (klog's level 8), and whatever the
// server sends that isn't JSON or protobuf of the expected kind. Two things differ
// with streams: the metric of the response's size counts nothing, and an object
// of a watch that can't be decoded is located in the error.
//
// The client itself is asked, never its RESTClient(): a wrapper or a fake, which
// has the methods of the generated interface only, is read through those methods.
type Streaming interface {
	RESTResource() RESTResource
}

// Writing is implemented, beside Client, by a resource's client that remembers
// what was written through it and its likes. Informers ask the client that they
// would list with; a wrapper hides it, as it hides Streaming.
type Writing interface {
	// Written says what was written in a namespace, "" for all, and what was
	// deleted, in any namespace, after the deletion of that sequence number. A
	// client that was made for one namespace speaks of that one only. ok is
	// false if it remembers nothing.
	Written(namespace string, after uint64) (written Written, ok bool)
}

// Written is what a client remembers of its writes.
type Written struct {
	// ResourceVersion is the highest that a write was answered with, "" if none
	// was.
	ResourceVersion string
	// Deletions are those whose version isn't known, in their order.
	Deletions []Deletion
}

// Deletion is an object that is gone by a deletion whose version isn't known.
type Deletion struct {
	// Sequence numbers the deletions of a resource, from 1 on.
	Sequence        uint64
	Namespace, Name string
	UID             types.UID
	// After is the highest version that was written in the namespace before, ""
	// if none was. Whoever doesn't know that version may not know the object
	// yet.
	After string
}
