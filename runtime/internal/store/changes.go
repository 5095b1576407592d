package store

import "iter"

// ChangeType is the kind of a Change.
type ChangeType uint8

const (
	// None is a change that changed nothing: the deletion of an object that wasn't there.
	None ChangeType = iota
	// Added is an object under a key that had none.
	Added
	// Updated is an object in place of another, even of an equal one.
	Updated
	// Deleted is the removal of an object.
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
	// Object and Version are the stored object and its resourceVersion. For a
	// deletion, Object is that of Apply's caller, and Version becomes the
	// collection's resourceVersion.
	Object  any
	Version string
	// Old and OldVersion are those that were stored before an update or deletion.
	Old        any
	OldVersion string
}

// Changes are the changes that a replacement made. They are computed from the
// store's contents before and after, which they keep alive.
type Changes[K comparable] struct {
	before, after Snapshot[K]
	// replaced holds for each slot of after its slot in before plus one, or
	// zero for an object that is new. It is nil when before is empty.
	replaced []uint32
	deleted  []uint32
}

// Len is the number of changes.
func (c Changes[K]) Len() int { return c.after.length + len(c.deleted) }

// All yields the deletions, without Object or Version, then the additions and
// updates in the order of Replacement.Each.
func (c Changes[K]) All() iter.Seq[Change[K]] {
	return func(yield func(Change[K]) bool) {
		for _, slot := range c.deleted {
			change := Change[K]{Type: Deleted}
			change.Key, change.Old, change.OldVersion = c.before.at(slot)
			if !yield(change) {
				return
			}
		}
		if c.replaced == nil {
			c.after.Changes()(yield)
			return
		}
		for slot, old := range c.replaced {
			change := Change[K]{Type: Added}
			change.Key, change.Object, change.Version = c.after.at(uint32(slot))
			if old > 0 {
				change.Type = Updated
				_, change.Old, change.OldVersion = c.before.at(old - 1)
			}
			if !yield(change) {
				return
			}
		}
	}
}

// compare finds the objects of next in before.
func compare[K comparable](before, next *generation[K]) Changes[K] {
	c := Changes[K]{}
	if before.pages.length == 0 {
		return c
	}
	c.replaced = make([]uint32, 0, next.pages.length)
	kept := make([]bool, before.pages.length)
	for _, p := range next.pages.directory {
		for _, key := range p.keys {
			slot, _, ok := before.find(&key)
			if !ok {
				c.replaced = append(c.replaced, 0)
				continue
			}
			kept[slot] = true
			c.replaced = append(c.replaced, slot+1)
		}
	}
	for slot, kept := range kept {
		if !kept {
			c.deleted = append(c.deleted, uint32(slot))
		}
	}
	return c
}
