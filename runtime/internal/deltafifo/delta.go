package deltafifo

// DeltaType says what happened.
type DeltaType uint8

const (
	// Added, Updated and Deleted are changes of one object.
	Added DeltaType = iota + 1
	Updated
	Deleted
	// Replaced is one object of a new list. Whether it changed isn't known.
	Replaced
	// ReplacedAll is a new list: objects that aren't in it are gone.
	ReplacedAll
	// Sync asks to look at an object again, though nothing happened to it.
	Sync
	// SyncAll asks to look at every known object again.
	SyncAll
	// Bookmark says that everything up to its Version came before it.
	Bookmark
)

var deltaTypes = [...]string{"", "Added", "Updated", "Deleted", "Replaced", "ReplacedAll", "Sync", "SyncAll", "Bookmark"}

// String returns the name that client-go's DeltaType of that meaning has, "" if
// there is none.
func (t DeltaType) String() string {
	if int(t) < len(deltaTypes) {
		return deltaTypes[t]
	}
	return ""
}

// keyed says whether a delta of this type is about one object.
func (t DeltaType) keyed() bool { return t != ReplacedAll && t != SyncAll && t != Bookmark }

// populates says whether a delta of this type is the server's own news.
func (t DeltaType) populates() bool { return t != Sync && t != SyncAll && t != Bookmark }

// Delta is one thing that happened.
type Delta[K comparable, T any] struct {
	Type DeltaType
	// Initial says that the delta belongs to the list that the queue was first
	// filled with. The queue sets it.
	Initial bool
	// FinalStateUnknown says of a deletion that Object is the last state that
	// was seen, not the one at the deletion.
	FinalStateUnknown bool
	// Key is zero for ReplacedAll, SyncAll and Bookmark, and so is Object.
	Key    K
	Object T
	// Version is the resourceVersion of Object, or of the collection for
	// ReplacedAll and Bookmark.
	Version string
	// List has the objects of a ReplacedAll.
	List List[K, T]
}

// List is a complete list of objects, no key twice. It doesn't change while it
// is queued.
type List[K comparable, T any] interface {
	Len() int
	Each(yield func(key K, object T, version string))
}

// Items is a List in a slice.
type Items[K comparable, T any] []Item[K, T]

// Item is an object of a list, with its key and resourceVersion.
type Item[K comparable, T any] struct {
	Key     K
	Object  T
	Version string
}

// Len is the number of items.
func (items Items[K, T]) Len() int { return len(items) }

// Each calls yield for every item in order.
func (items Items[K, T]) Each(yield func(key K, object T, version string)) {
	for _, item := range items {
		yield(item.Key, item.Object, item.Version)
	}
}
