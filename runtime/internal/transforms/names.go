package transforms

import "maps"

// Names remembers under which key each object is stored. Objects have the keys that the server's objects
// have, until a transform changes one: only then is there a map. The zero value is ready to use.
//
// If a transform gives two objects one key, the one that came later is stored, and the deletion of either
// deletes it.
type Names[K comparable] struct {
	// stored has the key under which the object of each key is stored. It is nil until the two differ. Then
	// it has all objects.
	stored map[K]K
}

// Changed reports whether a transform has changed a key.
func (n *Names[K]) Changed() bool { return n.stored != nil }

// Put records that the object of the key from is stored under key. keys are all keys that are stored. If the
// object was stored under another key, Put returns that key: the caller has to delete what is stored there.
func (n *Names[K]) Put(from, key K, keys func() []K) (old K, moved bool) {
	if n.stored == nil {
		if from == key {
			return old, false
		}
		n.initStored(keys())
	}
	old, known := n.stored[from]
	n.stored[from] = key
	return old, known && old != key
}

// initStored makes the map, while all objects are stored under their own keys.
func (n *Names[K]) initStored(keys []K) {
	n.stored = make(map[K]K, len(keys))
	for _, key := range keys {
		n.stored[key] = key
	}
}

// Of returns the key under which the object of the key from is stored. ok is false if it isn't stored. It may
// be true for an object that isn't stored if no key was ever changed: then nothing is stored under from.
func (n *Names[K]) Of(from K) (key K, ok bool) {
	if n.stored == nil {
		return from, true
	}
	key, ok = n.stored[from]
	return key, ok
}

// Forget removes the object of the key from.
func (n *Names[K]) Forget(from K) { delete(n.stored, from) }

// ForgetStored removes the objects that are stored under keys.
func (n *Names[K]) ForgetStored(keys map[K]bool) {
	if len(keys) == 0 {
		return
	}
	maps.DeleteFunc(n.stored, func(_, stored K) bool { return keys[stored] })
}

// Merge adds those objects of other that are stored under keys. n has the objects that are stored under own.
func (n *Names[K]) Merge(other *Names[K], keys map[K]bool, own []K) {
	if n.stored == nil && other.stored == nil {
		return
	}
	if n.stored == nil {
		n.initStored(own)
	}
	if other.stored == nil {
		for key := range keys {
			n.stored[key] = key
		}
	}
	for from, key := range other.stored {
		if keys[key] {
			n.stored[from] = key
		}
	}
}

// Origins returns the keys of the server's objects by the keys under which they are stored. It is nil if no
// key was ever changed.
func (n *Names[K]) Origins() map[K]K {
	if n.stored == nil {
		return nil
	}
	origins := make(map[K]K, len(n.stored))
	for from, key := range n.stored {
		origins[key] = from
	}
	return origins
}
