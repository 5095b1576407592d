package reflector

// Sink receives what a reflector learns, from one goroutine at a time.
//
// A list is staged: Begin opens a Staging, every object of the list is added
// to it, and Commit makes all of them visible at once. Between Begin and
// Commit the sink may still receive nothing else. A Staging that is discarded
// leaves the sink as it was.
type Sink[T any] interface {
	Begin() Staging[T]
	Added(obj T, resourceVersion string) error
	Updated(obj T, resourceVersion string) error
	Deleted(obj T, resourceVersion string) error
	// Bookmark says that everything up to resourceVersion was delivered.
	Bookmark(resourceVersion string) error
	// Resync asks for a Sync of everything that is known.
	Resync() error
}

// Staging collects a list until it is complete.
type Staging[T any] interface {
	Add(obj T, resourceVersion string) error
	Commit(resourceVersion string) error
	Discard()
}
