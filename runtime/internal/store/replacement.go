package store

import "iter"

// Replacement collects what will take the place of everything that a store
// holds. It isn't safe for concurrent use and is done after Commit or Discard.
type Replacement[K comparable] struct {
	store  *Store[K]
	staged *generation[K]
}

// Begin opens a replacement. The store stays as it is, for readers and
// writers, until Commit.
func (s *Store[K]) Begin() *Replacement[K] {
	return &Replacement[K]{store: s, staged: newGeneration[K]()}
}

// Set stages an object under a key, with its resourceVersion. Of several objects
// under one key the last counts.
func (r *Replacement[K]) Set(key K, object any, version string) {
	r.staged.put(r.staged.locate(&key), key, object, version, nil)
}

// Delete takes back what was staged under a key, if anything.
func (r *Replacement[K]) Delete(key K) {
	if at := r.staged.locate(&key); at.existed {
		r.staged.remove(at.slot)
	}
}

// Each calls yield for every staged object, in the order in which their keys
// were first staged, unless Delete was called.
func (r *Replacement[K]) Each(yield func(key K, object any, version string)) {
	for _, p := range r.staged.pages.directory {
		for i, object := range p.objects {
			yield(p.keys[i], object, p.versions[i])
		}
	}
}

// Check computes the index values of an object, as Commit will do: if it panics,
// Commit would, with that object.
func (r *Replacement[K]) Check(object any) {
	s := r.store
	s.writing.Lock()
	defer s.writing.Unlock()
	s.valuesOf(object)
}

// Len is the number of staged objects.
func (r *Replacement[K]) Len() int { return r.staged.pages.length }

// Discard drops what was staged.
func (r *Replacement[K]) Discard() { r.staged = nil }

// Commit makes the staged objects the store's only ones, all at once, with
// resourceVersion as the collection's. What was written to the store since
// Begin is replaced, too. It returns what changed against the store as it was
// just before. Other writers wait meanwhile, readers don't.
//
// If an index function panics, nothing has changed, and what is staged still is.
func (r *Replacement[K]) Commit(resourceVersion string) Changes[K] {
	s, next := r.store, r.staged
	s.writing.Lock()
	defer s.writing.Unlock()
	functions := make(map[string]IndexFunc, len(s.live.indexes))
	for _, x := range s.live.indexes {
		functions[x.name] = x.values
	}
	next.add(next.index(functions))
	r.staged = nil
	changes := compare(s.live, next)
	s.mu.Lock()
	defer s.mu.Unlock()
	changes.before = s.snapshot()
	s.live, s.version = next, resourceVersion
	changes.after = s.snapshot()
	return changes
}

// compare finds the objects of next in before.
func compare[K comparable](before, next *generation[K]) Changes[K] {
	c := Changes[K]{}
	if before.pages.length == 0 {
		c.added = next.pages.length
		return c
	}
	c.replaced = make([]uint32, 0, next.pages.length)
	kept := make([]bool, before.pages.length)
	for _, p := range next.pages.directory {
		for _, key := range p.keys {
			slot, _, ok := before.find(&key)
			if !ok {
				c.added++
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

// Changes is what a replacement changed. It is computed from the store's
// contents before and after, which it keeps alive.
type Changes[K comparable] struct {
	before, after Snapshot[K]
	added         int
	// replaced holds for each slot of after its slot in before plus one, or
	// zero for an object that is new. It is nil when before is empty.
	replaced []uint32
	deleted  []uint32
}

// Added, Updated and Deleted count the changes.
func (c Changes[K]) Added() int { return c.added }

// Updated counts the objects that took the place of another, equal or not.
func (c Changes[K]) Updated() int { return c.after.length - c.added }

// Deleted counts the objects that are no longer there.
func (c Changes[K]) Deleted() int { return len(c.deleted) }

// Len counts all changes.
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
