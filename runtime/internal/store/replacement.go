package store

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

// Lookup returns what is staged under a key, and its resourceVersion.
func (r *Replacement[K]) Lookup(key K) (object any, version string, ok bool) {
	slot, _, ok := r.staged.find(&key)
	if ok {
		object, version = r.staged.pages.at(slot)
	}
	return object, version, ok
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
