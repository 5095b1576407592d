package store

import (
	"iter"
	"slices"
	"strings"
)

// Get returns the object of a key.
func (s *Store[K]) Get(key K) (object any, ok bool) {
	if !textual[K]() {
		// Hashing the key may panic, so unlocking needs the defer of Lookup.
		object, _, ok = s.Lookup(key)
		return object, ok
	}
	s.mu.RLock()
	slot, _, ok := s.live.find(&key)
	if ok {
		object = s.live.pages.directory[slot>>pageBits].objects[slot&pageMask]
	}
	s.mu.RUnlock()
	return object, ok
}

// Lookup is Get with the resourceVersion that the object was stored with.
func (s *Store[K]) Lookup(key K) (object any, version string, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	slot, _, ok := s.live.find(&key)
	if ok {
		object, version = s.live.pages.at(slot)
	}
	return object, version, ok
}

// Len is the number of objects.
func (s *Store[K]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.live.pages.length
}

// Snapshot returns the present content of the store, in constant time.
func (s *Store[K]) Snapshot() Snapshot[K] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.snapshot()
}

func (s *Store[K]) snapshot() Snapshot[K] {
	snapshot := s.live.pages.snapshot()
	snapshot.version = s.version
	return snapshot
}

// All yields every key with its object, in no particular order, from a snapshot
// at the start of the iteration. It allocates nothing per object, and the store
// may be written meanwhile, also from within the loop.
func (s *Store[K]) All() iter.Seq2[K, any] {
	return func(yield func(K, any) bool) {
		s.Snapshot().All()(yield)
	}
}

// List returns every object, in no particular order.
func (s *Store[K]) List() []any { return s.Snapshot().List() }

// HasIndex reports whether there is an index of that name.
func (s *Store[K]) HasIndex(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, err := s.live.named(name)
	return err == nil
}

// Fields returns the fields that have a [FieldIndex], sorted.
func (s *Store[K]) Fields() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var fields []string
	for _, x := range s.live.indexes {
		if field, ok := strings.CutPrefix(x.name, FieldIndex("")); ok {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return fields
}

// Count returns how many objects have each of values in the named index, added
// up, and false if there is no such index.
func (s *Store[K]) Count(name string, values ...string) (n int, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.live.named(name)
	if err != nil {
		return 0, false
	}
	for _, value := range values {
		n += len(x.lookup(value))
	}
	return n, true
}

// HasValue reports whether the function of the named index returns value for object,
// which needn't be stored.
func (s *Store[K]) HasValue(name string, object any, value string) bool {
	s.mu.RLock()
	x, err := s.live.named(name)
	s.mu.RUnlock()
	return err == nil && slices.Contains(x.values(object), value)
}

// ByIndex returns the objects that have one of values in the named index, each
// once and in no particular order. The error is a *[lister.NoIndexError].
func (s *Store[K]) ByIndex(name string, values ...string) ([]any, error) {
	return match(s, name, objectsOf, values)
}

// IndexKeys returns the keys of the objects that ByIndex returns.
func (s *Store[K]) IndexKeys(name string, values ...string) ([]K, error) {
	return match(s, name, keysOf, values)
}

func keysOf[K comparable](p *page[K]) []K      { return p.keys }
func objectsOf[K comparable](p *page[K]) []any { return p.objects }

// IndexValues returns the values of the named index that objects have, in no
// particular order, and none if there is no such index. Writers wait while it
// copies them (about 2 ns each).
func (s *Store[K]) IndexValues(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	x, err := s.live.named(name)
	if err != nil {
		return nil
	}
	values := make([]string, 0, len(x.ids))
	for id, slots := range x.postings {
		if len(slots) > 0 {
			values = append(values, x.texts[id])
		}
	}
	return values
}

// shortResult is the largest number of objects that are picked under the lock,
// which takes microseconds. A longer result is picked from a snapshot.
const shortResult = 1024

// match returns the values in a column of the objects that have one of values in
// the named index, each object once.
func match[K comparable, R any](
	s *Store[K], name string, column func(*page[K]) []R, values []string,
) ([]R, error) {
	s.mu.RLock()
	x, err := s.live.named(name)
	if err != nil {
		s.mu.RUnlock()
		return nil, err
	}
	var slots []uint32
	if len(values) == 1 {
		slots = x.lookup(values[0])
	} else {
		for _, value := range values {
			slots = append(slots, x.lookup(value)...)
		}
	}
	directory := s.live.pages.directory
	if len(slots) <= shortResult {
		defer s.mu.RUnlock()
	} else {
		slots = slices.Clone(slots)
		directory = s.snapshot().directory
		s.mu.RUnlock()
	}
	if len(values) > 1 {
		slices.Sort(slots)
		slots = slices.Compact(slots)
	}
	return pick(directory, slots, column), nil
}

func pick[K comparable, R any](directory []*page[K], slots []uint32, column func(*page[K]) []R) []R {
	picked := make([]R, len(slots))
	for i, slot := range slots {
		picked[i] = column(directory[slot>>pageBits])[slot&pageMask]
	}
	return picked
}
