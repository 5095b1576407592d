// Package sources defines what reflectors read objects from: a [Source] lists the objects of one resource in
// pages and watches them. Package clientsource makes sources of clients and lister-watchers.
package sources

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Source yields the objects of one resource. Implementations are safe for concurrent use.
type Source interface {
	// List reads one page. It adds each object to the receiver as soon as the object is decoded, from one
	// goroutine at a time. It adds nothing after it has returned. It returns within a second of the end of
	// ctx: a list function that doesn't is left behind.
	List(ctx context.Context, opts metav1.ListOptions, to Receiver) (ListMeta, error)
	// Watch returns a stream of changes, or an error, never neither. The stream ends with ctx or Stop.
	Watch(ctx context.Context, opts metav1.ListOptions) (Stream, error)
}

// Receiver receives the objects of a page.
type Receiver interface {
	// Add receives an object. The object belongs to the receiver, unless it is the cached one, which is
	// shared. An error ends the list, and List returns it.
	Add(obj any) error
	// Restart drops the objects that this call of List has added: it reads the page again. An error ends the
	// list, and List returns it.
	Restart() error
}

// ListMeta is the metadata of a page.
type ListMeta struct {
	ResourceVersion string
	// Continue is empty on the last page.
	Continue string
}

// Stream is an open watch. Next is for one goroutine at a time.
type Stream interface {
	// Next blocks until an event arrives. It returns io.EOF when the server has closed the stream normally,
	// ctx's error when ctx is done, and an [k8s.io/apimachinery/pkg/api/errors.APIStatus] for an Error event.
	Next(ctx context.Context) (Event, error)
	// Stop ends the stream and releases its resources. It is idempotent and may be called while Next blocks,
	// which then returns. It receives the remaining events of the client's watcher until the watcher closes
	// its channel, but only for a short time: some never close it.
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
	// InitialEventsEnd marks the bookmark that ends the initial events of a watch-list.
	InitialEventsEnd bool
	// Written is when the object was written, in seconds since 1970, 0 if its age isn't to be counted: nobody
	// asked for it, it isn't known, or the object was there before the watch.
	Written int64
}

// Client has the methods of a generated typed client that list and watch.
type Client[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}
