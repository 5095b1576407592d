package deltafifo

// DeltaType is the kind of a delta.
type DeltaType uint8

const (
	// Added, Updated and Deleted are changes of one object.
	Added DeltaType = iota + 1
	Updated
	Deleted
	// ReplacedAll is a new list: objects that aren't in it are gone.
	ReplacedAll
	// SyncAll is a request to resync all objects.
	SyncAll
	// Bookmark is a marker: everything up to its Version precedes it.
	Bookmark
	// Call is something else for the consumer to do, in the order of arrival.
	Call
)

var deltaTypes = [...]string{"", "Added", "Updated", "Deleted", "ReplacedAll", "SyncAll", "Bookmark", "Call"}

// String returns the name of the type, "" for an unknown one.
func (t DeltaType) String() string {
	if int(t) < len(deltaTypes) {
		return deltaTypes[t]
	}
	return ""
}

// Delta is one change, list, request or marker.
type Delta[K comparable] struct {
	Type DeltaType
	// Key and Object are zero for ReplacedAll, SyncAll and Bookmark. For a Call, Object is what to call. A
	// Deleted without an Object deletes what is stored, whose final state isn't stored.
	Key    K
	Object any
	// Version is the resourceVersion of Object, or of the collection for
	// ReplacedAll and Bookmark.
	Version string
	// List contains the objects of a ReplacedAll.
	List List[K]
}

// List is a complete list of objects, with each key once. It doesn't change while
// it is queued.
type List[K comparable] interface {
	Len() int
	Each(yield func(key K, object any, version string))
}
