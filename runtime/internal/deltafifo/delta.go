package deltafifo

// DeltaType says what happened.
type DeltaType uint8

const (
	// Added, Updated and Deleted are changes of one object.
	Added DeltaType = iota + 1
	Updated
	Deleted
	// ReplacedAll is a new list: objects that aren't in it are gone.
	ReplacedAll
	// SyncAll requests a resync of every known object.
	SyncAll
	// Bookmark says that all changes up to its Version came before it.
	Bookmark
)

var deltaTypes = [...]string{"", "Added", "Updated", "Deleted", "ReplacedAll", "SyncAll", "Bookmark"}

// String returns client-go's name for the type, "" if t is no DeltaType.
func (t DeltaType) String() string {
	if int(t) < len(deltaTypes) {
		return deltaTypes[t]
	}
	return ""
}

// Delta is a change, a list, a resync or a bookmark.
type Delta[K comparable] struct {
	Type DeltaType
	// Key and Object are zero for ReplacedAll, SyncAll and Bookmark.
	Key    K
	Object any
	// Version is the resourceVersion of Object, or of the collection for
	// ReplacedAll and Bookmark.
	Version string
	// List has the objects of a ReplacedAll.
	List List[K]
}

// List is a complete list of objects, no key twice. It doesn't change while it
// is queued.
type List[K comparable] interface {
	Len() int
	Each(yield func(key K, object any, version string))
}
