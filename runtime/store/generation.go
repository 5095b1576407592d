package store

import "hash/maphash"

// generation is everything that a store holds between two replacements. It
// isn't safe for concurrent use, except for pages.share.
type generation[K comparable, T any] struct {
	// seed is the store's, the same in all its generations.
	seed    maphash.Seed
	table   table
	pages   pages[K, T]
	indexes []*index[T]
	refs    *refs
}

func newGeneration[K comparable, T any](seed maphash.Seed) *generation[K, T] {
	return &generation[K, T]{seed: seed, refs: &refs{}}
}

// find returns the slot of a key.
func (g *generation[K, T]) find(tag uint32, key K) (slot uint32, ok bool) {
	entries := g.table.entries
	if len(entries) == 0 {
		return 0, false
	}
	mask := uint32(len(entries) - 1)
	for i := tag >> g.table.shift; ; i = (i + 1) & mask {
		entry := entries[i&mask]
		if entry == 0 {
			return 0, false
		}
		if uint32(entry>>32) == tag {
			if slot := uint32(entry) - 1; g.pages.key(slot) == key {
				return slot, true
			}
		}
	}
}

func (g *generation[K, T]) tag(key K) uint32 { return tagOfKey(g.seed, key) }

func tagOfKey[K comparable](seed maphash.Seed, key K) uint32 {
	return tagOf(maphash.Comparable(seed, key))
}

// prepare copies what a write under key will change, for readers not to wait for
// it. See pages.prepare.
func (g *generation[K, T]) prepare(key K) place {
	p := g.locate(key)
	if p.existed {
		g.pages.prepare(p.slot)
	} else {
		g.pages.prepare(uint32(g.pages.length))
	}
	return p
}

// place is where a key's object is, if existed.
type place struct {
	tag, slot uint32
	existed   bool
}

func (g *generation[K, T]) locate(key K) place {
	tag := g.tag(key)
	slot, existed := g.find(tag, key)
	return place{tag, slot, existed}
}

// put adds or replaces the object of a key that is located at p. values holds its
// values for each index.
func (g *generation[K, T]) put(p place, key K, object T, version string, values [][]string) (old T, oldVersion string) {
	slot := p.slot
	if !p.existed {
		slot = g.pages.append(key, object, version)
		g.table.insert(p.tag, slot)
		g.refs.appendRow()
		for i, x := range g.indexes {
			x.set(slot, values[i])
		}
		return old, ""
	}
	page, i := g.pages.writable(slot), slot&pageMask
	old, oldVersion = page.objects[i], page.versions[i]
	page.objects[i], page.versions[i] = object, version
	for i, x := range g.indexes {
		x.update(slot, values[i])
	}
	return old, oldVersion
}

// remove takes an object out and moves the last one into its slot.
func (g *generation[K, T]) remove(key K) (old T, oldVersion string, existed bool) {
	tag := g.tag(key)
	slot, existed := g.find(tag, key)
	if !existed {
		return old, "", false
	}
	old, oldVersion = g.pages.at(slot)
	g.table.remove(tag, slot)
	for _, x := range g.indexes {
		x.unset(slot)
	}
	if last := uint32(g.pages.length - 1); slot != last {
		for _, x := range g.indexes {
			x.move(last, slot)
		}
		moved := g.pages.key(last)
		object, version := g.pages.at(last)
		p, i := g.pages.rewritable(slot), slot&pageMask
		p.keys[i], p.objects[i], p.versions[i] = moved, object, version
		g.table.move(g.tag(moved), last, slot)
	}
	g.refs.truncateRow()
	g.pages.truncate()
	return old, oldVersion, true
}

// named returns the index of that name.
func (g *generation[K, T]) named(name string) (*index[T], error) {
	for _, x := range g.indexes {
		if x.name == name {
			return x, nil
		}
	}
	return nil, &NoIndexError{Name: name}
}

// additional is indexes that a generation doesn't have yet.
type additional[T any] struct {
	indexes []*index[T]
	// refs is the generation's with columns for the indexes.
	refs *refs
}

// index computes indexes of what the generation holds. It changes nothing.
func (g *generation[K, T]) index(functions map[string]IndexFunc[T]) additional[T] {
	a := additional[T]{refs: g.refs.widened(len(functions), g.pages.length)}
	for name, values := range functions {
		x := &index[T]{name: name, values: values, ids: map[string]uint32{}}
		x.refs = column{a.refs, len(g.indexes) + len(a.indexes)}
		slot := uint32(0)
		for object := range g.pages.view().Values() {
			x.set(slot, values(object))
			slot++
		}
		a.indexes = append(a.indexes, x)
	}
	return a
}

// add makes computed indexes the generation's.
func (g *generation[K, T]) add(a additional[T]) {
	*g.refs = *a.refs
	for _, x := range a.indexes {
		x.refs.refs = g.refs
		g.indexes = append(g.indexes, x)
	}
}
