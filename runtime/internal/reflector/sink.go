package reflector

// Sink receives what a reflector reads, from one goroutine at a time.
//
// A list is staged: Begin opens a Staging, every object of the list is added
// to it, and Commit makes all of them visible at once. Between Begin and
// Commit or Discard the sink receives nothing else. A Staging that is
// discarded doesn't change the sink.
//
// An error of Added, Updated, Deleted or Bookmark is logged and becomes the
// health's last error, and the reflector goes on: the sink applies an event as a
// whole or not at all. An error of Commit makes it list again. An error of Resync
// ends the watch and makes it list again.
type Sink interface {
	Begin() Staging
	Added(obj any, resourceVersion string) error
	Updated(obj any, resourceVersion string) error
	Deleted(obj any, resourceVersion string) error
	// Bookmark reports that everything up to resourceVersion was delivered.
	Bookmark(resourceVersion string) error
	// Resync makes the sink deliver all its objects again.
	Resync() error
}

// Staging collects a list until it is complete. Exactly one call of Commit or
// Discard ends it; a failed Commit is not followed by Discard.
type Staging interface {
	// Add stages obj. In a list that is read in pages, an error ends the list: the
	// reflector calls Discard, nothing of the list becomes visible, and the
	// reflector lists again after its back-off. In a watch-list an error is
	// logged and becomes the health's last error, and the list goes on without obj.
	Add(obj any, resourceVersion string) error
	// Update stages obj in place of the object that was staged for it, and Remove
	// removes that object, if there is one. The reflector calls them only for a
	// watch-list: an object may change or be deleted between the first of the events
	// and the end of the list. After an error, which is treated as one of Add, what
	// was staged is as before.
	Update(obj any, resourceVersion string) error
	Remove(obj any) error
	Commit(resourceVersion string) error
	Discard()
}
