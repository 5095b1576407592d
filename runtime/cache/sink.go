package cache

import "github.com/kubewright/kubewright/runtime/internal/reflector"

// sink is a store or queue of people's as a reflector needs it.
type sink struct{ store ReflectorStore }

func (s sink) Added(obj any, _ string) error   { return s.store.Add(obj) }
func (s sink) Updated(obj any, _ string) error { return s.store.Update(obj) }
func (s sink) Deleted(obj any, _ string) error { return s.store.Delete(obj) }
func (s sink) Resync() error                   { return s.store.Resync() }

func (s sink) Bookmark(resourceVersion string) error {
	if b, ok := s.store.(ReflectorBookmarkStore); ok {
		return b.Bookmark(resourceVersion)
	}
	return nil
}

func (s sink) Begin() reflector.Staging[any] { return &staging{store: s.store} }

// versionUpdated tells a store, if it wants to know, how far it was filled.
func versionUpdated(store ReflectorStore) func(string) {
	if u, ok := store.(ResourceVersionUpdater); ok {
		return u.UpdateResourceVersion
	}
	return nil
}

// staging collects a list in a slice. It doesn't look at keys before it must: a
// list may hold what has no key but its store's, or the same name of several
// kinds.
type staging struct {
	store ReflectorStore
	items []any
	// places are those of the keys in items, once something is taken back.
	places map[string]int
}

func (s *staging) Add(obj any, _ string) error {
	s.items = append(s.items, obj)
	if s.places != nil {
		s.place(len(s.items) - 1)
	}
	return nil
}

func (s *staging) place(i int) {
	if key, err := DeletionHandlingMetaNamespaceKeyFunc(s.items[i]); err == nil {
		s.places[key] = i
	}
}

func (s *staging) Remove(obj any) error {
	if s.places == nil {
		s.places = make(map[string]int, len(s.items))
		for i := range s.items {
			s.place(i)
		}
	}
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	i, ok := s.places[key]
	if !ok {
		return nil
	}
	// The last one moves into the gap.
	last := len(s.items) - 1
	s.items[i] = s.items[last]
	s.place(i)
	s.items[last] = nil
	s.items = s.items[:last]
	delete(s.places, key)
	return nil
}

func (s *staging) Commit(resourceVersion string) error {
	return s.store.Replace(s.items, resourceVersion)
}

func (s *staging) Discard() {}
