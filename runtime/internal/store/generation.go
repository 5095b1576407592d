package store

import "github.com/kubewright/kubewright/runtime/lister"

// generation is everything that a store holds between two replacements. It
// isn't safe for concurrent use, except for pages.snapshot.
type generation[K comparable] struct {
	table   table
	pages   pages[K]
	indexes []*index
	refs    refTable
}

func newGeneration[K comparable]() *generation[K] {
	return &generation[K]{table: newTable()}
}

// find returns the slot of a key, and its tag even if ok is false.
func (g *generation[K]) find(key *K) (slot, tag uint32, ok bool) {
	// Calling textsOf only once saves a small store 2 ns of 30.
	switch first, second, ok := textsOf(key); {
	case !ok:
		tag = tagOf(hashing, key)
	case g.table.texts.exist() && fits(first, second):
		return g.table.find(first, second)
	default:
		tag = uint32(hashing.texts(first, second) >> 32)
	}
	if slot, ok := g.table.first(tag); ok && g.pages.key(slot) == *key {
		return slot, tag, true
	}
	at, i, ok := g.table.locate(tag, func(slot uint32) bool { return g.pages.key(slot) == *key })
	return g.table.buckets[at].slots[i], tag, ok
}

// location is where the object of a key is, or will be. If existed, old is that object. It
// is valid until the next write.
type location struct {
	tag, slot  uint32
	existed    bool
	old        any
	oldVersion string
	// indexed means that the indexes have exactly the values of the object that will
	// replace it: then they needn't be written.
	indexed bool
}

// locate finds the location of a key for a write.
func (g *generation[K]) locate(key *K) (p location) {
	if p.slot, p.tag, p.existed = g.find(key); p.existed {
		p.old, p.oldVersion = g.pages.at(p.slot)
		g.refs.prefetch(p.slot)
	}
	return p
}

// target is the slot that a put at p writes.
func (g *generation[K]) target(p location) uint32 {
	if p.existed {
		return p.slot
	}
	return uint32(g.pages.length)
}

// indexed reports whether a slot has exactly these values in each index.
func (g *generation[K]) indexed(slot uint32, values [][]string) bool {
	for i, x := range g.indexes {
		if !x.has(slot, values[i]) {
			return false
		}
	}
	return true
}

// put adds or replaces the object of a key that is located at p. values holds its
// values for each index.
func (g *generation[K]) put(p location, key K, object any, version string, values [][]string) {
	if !p.existed {
		slot := g.pages.append(key, object, version)
		g.table.add(p.tag)
		g.addText(slot)
		g.refs.appendRow()
		for i, x := range g.indexes {
			x.set(slot, values[i])
		}
		return
	}
	page, i := g.pages.writable(p.slot), p.slot&pageMask
	page.objects[i], page.versions[i] = object, version
	page.forget(i)
	if p.indexed {
		return
	}
	for i, x := range g.indexes {
		x.update(p.slot, values[i])
	}
}

// addText copies the text of the key in the last slot. When the store outgrows minTexts,
// it copies those of all keys: 64 KB, some 20 us.
func (g *generation[K]) addText(slot uint32) {
	first := slot
	if !g.table.texts.exist() {
		if slot < minTexts || !textual[K]() {
			return
		}
		first = 0
	}
	for ; first <= slot; first++ {
		key := g.pages.key(first)
		namespace, name, _ := textsOf(&key)
		g.table.texts.append(first, namespace, name)
	}
}

// remove takes out the object at a slot and moves the last one there.
func (g *generation[K]) remove(slot uint32) {
	g.table.remove(slot)
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
		p.forget(i)
	}
	g.refs.truncateRow()
	g.pages.truncate()
}

// named returns the index of that name.
func (g *generation[K]) named(name string) (*index, error) {
	for _, x := range g.indexes {
		if x.name == name {
			return x, nil
		}
	}
	return nil, &lister.NoIndexError{Name: name}
}

// additional holds indexes that a generation doesn't have yet.
type additional struct {
	indexes []*index
	// refs is the generation's refTable with columns for these indexes.
	refs *refTable
}

// index computes indexes of the generation's objects. It doesn't change the generation.
func (g *generation[K]) index(functions map[string]IndexFunc) additional {
	a := additional{refs: g.refs.widened(len(functions), g.pages.length)}
	for name, values := range functions {
		x := &index{name: name, values: values, ids: map[string]valueID{}}
		x.column = column{a.refs, len(g.indexes) + len(a.indexes)}
		slot := uint32(0)
		for object := range g.pages.view().Values() {
			x.set(slot, values(object))
			slot++
		}
		a.indexes = append(a.indexes, x)
	}
	return a
}

// add adds computed indexes to the generation.
func (g *generation[K]) add(a additional) {
	g.refs = *a.refs
	for _, x := range a.indexes {
		x.column.table = &g.refs
		g.indexes = append(g.indexes, x)
	}
}
