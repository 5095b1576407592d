package store

// Replacement collects the objects that will replace the content of a store. It
// isn't safe for concurrent use, and can't be used after Commit or Discard.
type Replacement[K comparable] struct {
	store  *Store[K]
	staged *generation[K]
}

// Begin opens a replacement. It has no effect on readers and writers of the
// store until Commit.
func (s *Store[K]) Begin() *Replacement[K] {
	return &Replacement[K]{store: s, staged: newGeneration[K]()}
}

// Set stages an object under a key, with its resourceVersion. Of several objects
// under one key the last counts.
func (r *Replacement[K]) Set(key K, object any, version string) {
	r.staged.put(r.staged.locate(&key), key, object, version, nil)
}

// Delete removes the object that was staged under a key, if there is one.
func (r *Replacement[K]) Delete(key K) {
	if at := r.staged.locate(&key); at.existed {
		r.staged.remove(at.slot)
	}
}

// Lookup returns the object that is staged under a key, and its resourceVersion.
func (r *Replacement[K]) Lookup(key K) (object any, version string, ok bool) {
	at := r.staged.locate(&key)
	return at.old, at.oldVersion, at.existed
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

// Keys returns the key of every staged object, in the order of Each.
func (r *Replacement[K]) Keys() []K {
	return r.staged.pages.view().Keys()
}

// Check computes the index values of an object. If it panics, Commit would panic with
// that object, too.
func (r *Replacement[K]) Check(object any) {
	s := r.store
	s.writing.Lock()
	defer s.writing.Unlock()
	s.valuesOf(object)
}

// Len is the number of staged objects.
func (r *Replacement[K]) Len() int { return r.staged.pages.length }

// Discard drops the staged objects.
func (r *Replacement[K]) Discard() { r.staged = nil }

// Commit makes the staged objects the store's only ones, all at once, with
// resourceVersion as the collection's. Objects that were written to the store
// since Begin are replaced, too. It returns the changes from the content just
// before. Other writers wait meanwhile, readers don't.
//
// If an index function panics, the store is unchanged, and the objects are still staged.
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
