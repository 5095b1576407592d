package store

import (
	"fmt"
	"slices"
	"sync"
)

// Backed is an indexer that keeps its objects in a Store. Listers find the store of a
// generated informer by it.
type Backed[K comparable] interface {
	Store() *Store[K]
}

// Store holds the objects of one resource. It is safe for concurrent use; see the
// package's documentation for what it promises to readers and writers.
type Store[K comparable] struct {
	// writing is held by one writer at a time. See the package's documentation about locks.
	writing sync.Mutex
	// values is the writer's scratch space: per change, per index.
	values [][]string

	// mu guards the fields below. It is held for short sections only: no index function is
	// called under it, and nothing is listed under it.
	mu      sync.RWMutex
	live    *generation[K]
	version string
	// pinned means that changes of objects don't change the version.
	pinned bool
}

// maxScratch bounds the scratch space that is kept between writes: 96 KB.
const maxScratch = 4096

// New returns an empty store without indexes.
func New[K comparable]() *Store[K] {
	return &Store[K]{live: newGeneration[K]()}
}

// Set stores an object under a key, with its resourceVersion, which may be "". It
// returns the object that it replaced.
func (s *Store[K]) Set(key K, object any, version string) (old any, existed bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	// Readers needn't wait for this part.
	at := s.live.locate(&key)
	values := s.valuesOf(object)
	at.indexed = at.existed && s.live.indexed(at.slot, values)
	s.own(s.live.target(at))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.put(at, key, object, version, values)
	s.observe(version)
	return at.old, at.existed
}

// Delete removes the object of a key and returns it. It doesn't change the
// collection's resourceVersion.
func (s *Store[K]) Delete(key K) (old any, existed bool) {
	changes := []Change[K]{{Type: Deleted, Key: key}}
	s.Apply(changes)
	return changes[0].Old, changes[0].Type == Deleted
}

// Apply makes changes, in order, which become visible together. A change of Type
// Deleted deletes, any other stores Object; its Key must be set. Apply sets Type, Old
// and OldVersion of each change to what it did.
//
// Readers wait while the changes are made (under a microsecond each), so the caller
// should bound their number.
func (s *Store[K]) Apply(changes []Change[K]) {
	s.writing.Lock()
	defer s.writing.Unlock()
	n := len(s.live.indexes)
	s.values = slices.Grow(s.values[:0], n*len(changes))
	for i := range changes {
		for _, x := range s.live.indexes {
			if changes[i].Type == Deleted {
				s.values = append(s.values, nil)
			} else {
				s.values = append(s.values, x.values(changes[i].Object))
			}
		}
	}
	for i := range changes {
		s.own(s.live.target(s.live.locate(&changes[i].Key)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range changes {
		s.apply(&changes[i], s.values[i*n:(i+1)*n])
	}
	clear(s.values)
	if cap(s.values) > maxScratch {
		s.values = nil
	}
}

// own copies the page of a slot that will be written, if a snapshot has it, so that
// readers don't wait for the copy. If a snapshot is taken between own and the write, the
// write copies the page once more, under mu.
func (s *Store[K]) own(slot uint32) {
	ps, number := &s.live.pages, slot>>pageBits
	if int(number) > len(ps.directory) || ps.owns(number) {
		return
	}
	c := ps.copyOf(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	ps.install(c)
}

func (s *Store[K]) apply(c *Change[K], values [][]string) {
	at := s.live.locate(&c.Key)
	c.Old, c.OldVersion = at.old, at.oldVersion
	switch {
	case c.Type != Deleted:
		s.live.put(at, c.Key, c.Object, c.Version, values)
		if c.Type = Added; at.existed {
			c.Type = Updated
		}
	case at.existed:
		s.live.remove(at.slot)
	default:
		c.Type = None
	}
	s.observe(c.Version)
}

// valuesOf computes the values of an object for each index. They are valid until
// the next call.
func (s *Store[K]) valuesOf(object any) [][]string {
	s.values = s.values[:0]
	for _, x := range s.live.indexes {
		s.values = append(s.values, x.values(object))
	}
	return s.values
}

func (s *Store[K]) observe(version string) {
	if version != "" && !s.pinned {
		s.version = version
	}
}

// Pin with true makes writes of objects leave the collection's resourceVersion unchanged, with false it ends
// that. It is for objects from several streams, whose versions aren't those of the whole collection.
func (s *Store[K]) Pin(pinned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pinned = pinned
}

// Observe records the resourceVersion of an object that isn't stored, as a write of the object would.
func (s *Store[K]) Observe(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe(version)
}

// Bookmark records the collection's resourceVersion.
func (s *Store[K]) Bookmark(resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = resourceVersion
}

// ResourceVersion returns the last version of the collection: that of a
// Bookmark, a Replacement.Commit, a Set, or a change that was applied.
func (s *Store[K]) ResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// AddIndexes adds indexes and fills them with the objects that the store
// holds. Readers don't wait meanwhile. It returns an error and adds no index if
// one of the names is taken, or one of the functions is nil.
func (s *Store[K]) AddIndexes(functions map[string]IndexFunc) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for name, function := range functions {
		if _, err := s.live.named(name); err == nil {
			return fmt.Errorf("there is an index %q already", name)
		}
		if function == nil {
			return fmt.Errorf("the index %q has no function", name)
		}
	}
	added := s.live.index(functions)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live.add(added)
	return nil
}
