package decode

import (
	"hash/maphash"
	"sync"
)

// Cached gives a list access to the objects that its reader has cached. For an object that
// hasn't changed, the cached one is handed over, and nothing is decoded: a relist takes a quarter
// of the time of a first list, and next to no memory.
type Cached struct {
	// LookUp, if not nil, is called before an object in JSON is decoded. If it returns
	// true, its object is handed over instead.
	LookUp func(Identity) (any, bool)
	// Texts, if not nil, limits calls of LookUp to objects whose text was in the previous
	// list.
	Texts *Texts
	// Wanted, if not nil, is called for each object, at least once. If it returns false, the object is skipped,
	// nearly always before it takes memory. Objects aren't looked up then.
	Wanted func(namespace, uid string) bool
}

// Identity identifies one version of an object.
type Identity struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// identity is the part of an object that is decoded to look the object up.
type identity struct {
	Metadata Identity `json:"metadata"`
}

// found is an object, decoded or cached.
type found struct {
	object    any
	fromCache bool
	// skipped means that it wasn't wanted; only its version is known.
	skipped bool
	// version is the resourceVersion of a cached object. The object itself may have
	// none any more: transform functions may remove it.
	version string
}

// object decodes the object at d's position, or finds it in the cache. For the look-up it
// decodes only the identity, and skips the rest.
func (c *Cached) object(r *reader, d *jsonDecoder, origin uint64) (f found, ok bool) {
	if c.Wanted != nil {
		return r.ifWanted(d, c.Wanted)
	}
	start, depth := d.pos, d.depth
	if c.LookUp != nil && (c.Texts == nil || !c.Texts.isEmpty()) {
		d.identity = identity{}
		if decodeInto(d, &d.identity) {
			id := d.identity.Metadata
			f.version = id.ResourceVersion
			if c.Texts == nil || c.Texts.has(d.data[start:d.pos], origin) {
				f.object, f.fromCache = c.LookUp(id)
			}
		} else if d.err == errMore {
			return f, false
		}
		// After an error in the identity, too: an unstructured object may be valid, others fail again.
		d.err, d.path = nil, d.path[:0]
	}
	if ok = f.fromCache; !ok {
		d.pos, d.depth = start, depth
		f.object, ok = r.object(d)
	}
	if ok && c.Texts != nil {
		c.Texts.add(d.data[start:d.pos], origin)
	}
	return f, ok
}

// Texts remembers the texts of the objects of a list, each as a hash of 64 bits. Two texts
// of one object have the same hash with a chance of one in 2^64. Nobody can provoke that,
// because the seed is random. The zero value is ready to use. It is safe for concurrent use.
type Texts struct {
	mu         sync.Mutex
	seed       maphash.Seed
	last, next map[uint64]struct{}
}

// Origins of texts. The same text is decoded differently in an item and in an event: items have
// no kind of their own.
const (
	ofItem  = 0
	ofEvent = 1
)

// Begin begins another list. It forgets the texts of a list that wasn't ended.
func (t *Texts) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	t.next = map[uint64]struct{}{}
}

// End ends a list that is complete: its texts replace those of the list before.
func (t *Texts) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.next = t.next, nil
}

// add remembers a text of the list that is being read. It does nothing if another list of
// the same source, read at the same time, has ended meanwhile.
func (t *Texts) add(text []byte, origin uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		t.next[t.sum(text, origin)] = struct{}{}
	}
}

// isEmpty reports whether there is no text of a complete list.
func (t *Texts) isEmpty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.last) == 0
}

// has reports whether the last list had that text.
func (t *Texts) has(text []byte, origin uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.last[t.sum(text, origin)]
	return ok
}

func (t *Texts) sum(text []byte, origin uint64) uint64 {
	return maphash.Bytes(t.seed, text) ^ origin
}
