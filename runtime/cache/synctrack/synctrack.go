// Package synctrack is k8s.io/client-go/tools/cache/synctrack under the path that goes with package cache.
// A controller that handles the notifications of an informer asynchronously uses it to find out when all
// objects of the first list were handled. Its types are client-go's, by alias.
package synctrack

import "k8s.io/client-go/tools/cache/synctrack"

type (
	// AsyncTracker tracks work that has keys and is done in any order.
	AsyncTracker[T comparable] = synctrack.AsyncTracker[T]
	// SingleFileTracker counts work that is done in the order of the notifications.
	SingleFileTracker = synctrack.SingleFileTracker
	// Lazy computes a value when it is requested and something has changed since the last time.
	Lazy[T any] = synctrack.Lazy[T]
)

// NewAsyncTracker returns a tracker with a name for logs.
func NewAsyncTracker[T comparable](name string) *AsyncTracker[T] {
	return synctrack.NewAsyncTracker[T](name)
}

// NewSingleFileTracker returns a tracker with a name for logs.
func NewSingleFileTracker(name string) *SingleFileTracker {
	return synctrack.NewSingleFileTracker(name)
}
