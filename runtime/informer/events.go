package informer

// EventType is the kind of an Event.
type EventType uint8

const (
	// Added is an object that is new.
	Added EventType = iota + 1
	// Updated is an object with a new state.
	Updated
	// Deleted is an object that is gone.
	Deleted
	// Synced comes once, after the last object of the initial list. It has no
	// object.
	Synced
	// Released is an object that left an informer of a part (runtime/shard/partial) without being deleted.
	Released
)

var eventTypes = [...]string{"Invalid", "Added", "Updated", "Deleted", "Synced", "Released"}

// String returns the constant's name, or "Invalid" for any other value.
func (t EventType) String() string {
	if int(t) < len(eventTypes) {
		return eventTypes[t]
	}
	return eventTypes[0]
}

// Event is a change of an informer's store. Objects are shared with the store:
// they must not be modified.
type Event[T any] struct {
	Type EventType
	// Object is the current state of the object, or its last state if it was deleted or released.
	Object T
	// Old is the state that Object replaced. It is set for updates only.
	Old T
	// Initial is set for an added object of the initial list, or one that was in the store when the loop began.
	Initial bool
	// Missed is set if the last state of a deleted object is unknown: a list no longer contained the object, or
	// the transform failed for it. Object is then its last known state.
	Missed bool
}
