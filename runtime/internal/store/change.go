package store

// ChangeType says what a Change does, or did.
type ChangeType uint8

const (
	// None is a change that changed nothing: the deletion of what wasn't there.
	None ChangeType = iota
	// Added is an object under a key that had none.
	Added
	// Updated is an object in place of another, even of an equal one.
	Updated
	// Deleted is an object taken out.
	Deleted
)

var changeTypes = [...]string{"None", "Added", "Updated", "Deleted"}

// String returns the constant's name, "Invalid" if t is none.
func (t ChangeType) String() string {
	if int(t) < len(changeTypes) {
		return changeTypes[t]
	}
	return "Invalid"
}

// Change is one change of a store.
type Change[K comparable] struct {
	Type ChangeType
	Key  K
	// Object and Version are what is stored. For a deletion, Object is what
	// the caller of Apply gave, and Version what the collection's
	// resourceVersion becomes.
	Object  any
	Version string
	// Old and OldVersion are what was stored before an update or deletion.
	Old        any
	OldVersion string
}
