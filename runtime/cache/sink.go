package cache

import (
	"errors"
	"fmt"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// sink adapts a ReflectorStore, here the queue of a controller, to our reflector. It drops versions: a queue
// takes them from the objects.
type sink struct{ store ReflectorStore }

func (s sink) Added(obj any, _ string) error   { return withoutObject(s.store.Add(obj)) }
func (s sink) Updated(obj any, _ string) error { return withoutObject(s.store.Update(obj)) }
func (s sink) Deleted(obj any, _ string) error { return withoutObject(s.store.Delete(obj)) }
func (s sink) Resync() error                   { return s.store.Resync() }

func (s sink) Bookmark(resourceVersion string) error {
	if b, ok := s.store.(ReflectorBookmarkStore); ok {
		return b.Bookmark(resourceVersion)
	}
	return nil
}

// withoutObject returns an error of a store without the object that a KeyError contains and prints:
// reflectors log the error, and the object may be a Secret.
func withoutObject(err error) error {
	if e, ok := errors.AsType[KeyError](err); ok {
		return fmt.Errorf("couldn't create key for object of type %T: %w", e.Obj, e.Err)
	}
	return err
}

func (s sink) Begin() reflector.Staging {
	if q, ok := s.store.(*transformingQueue); ok {
		return q.Begin()
	}
	return &staging{store: s.store}
}

// versionUpdated returns the store's method that receives the version up to which the store was filled, nil
// if it has none.
func versionUpdated(store ReflectorStore) func(string) {
	if u, ok := store.(ResourceVersionUpdater); ok {
		return u.UpdateResourceVersion
	}
	return nil
}

// staging collects a list in a slice, for the Replace of the store. It does not key objects by name, as a
// list may have the same name in several kinds, or objects for which only the store has a key. It needs names
// only to remove an object from a watch-list, which is rare.
type staging struct {
	store ReflectorStore
	items []any
	// positions are the positions in items by key. It is nil until an object is removed.
	positions map[string]int
}

func (s *staging) Add(obj any, _ string) error {
	s.items = append(s.items, obj)
	if s.positions != nil {
		s.recordPosition(len(s.items) - 1)
	}
	return nil
}

// recordPosition notes where an object is. An object without a name has no position, and can't be removed.
func (s *staging) recordPosition(i int) {
	if key, err := DeletionHandlingMetaNamespaceKeyFunc(s.items[i]); err == nil {
		s.positions[key] = i
	}
}

func (s *staging) Update(obj any, resourceVersion string) error {
	if err := s.Remove(obj); err != nil {
		return err
	}
	return s.Add(obj, resourceVersion)
}

func (s *staging) Remove(obj any) error {
	if s.positions == nil {
		s.positions = make(map[string]int, len(s.items))
		for i := range s.items {
			s.recordPosition(i)
		}
	}
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return withoutObject(KeyError{Obj: obj, Err: err})
	}
	i, ok := s.positions[key]
	if !ok {
		return nil
	}
	// The last item moves into the gap: a list has no order.
	last := len(s.items) - 1
	s.items[i] = s.items[last]
	s.recordPosition(i)
	s.items[last] = nil
	s.items = s.items[:last]
	delete(s.positions, key)
	return nil
}

func (s *staging) Commit(resourceVersion string) error {
	return withoutObject(s.store.Replace(s.items, resourceVersion))
}

// Discard has nothing to do: the store never got the list.
func (s *staging) Discard() {}
