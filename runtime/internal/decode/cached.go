package decode

import (
	"hash/maphash"
	"sync"
)

// Cached is what whoever reads a list has already. An object that a list brings
// unchanged is then handed over as it is cached, and not decoded again: neither
// it nor what decoding would leave behind takes memory beside the cached ones.
type Cached struct {
	// Known, if not nil, is asked before an object in JSON is decoded. An object
	// that it returns is handed over in its place, as it is.
	Known func(Identity) (any, bool)
	// Texts, if not nil, has Known asked only for objects that come with the
	// very text that they came with in the list before.
	Texts *Texts
}

// Identity is what tells an object and its state from others.
type Identity struct {
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	ResourceVersion string `json:"resourceVersion"`
}

// identity is decoded in place of an object to see whether it is known.
type identity struct {
	Metadata Identity `json:"metadata"`
}

// found is an object, decoded or cached. The version that a cached one came with
// may be gone from it.
type found struct {
	object  any
	known   bool
	version string
}

// object decodes the object at d's position, or finds it cached.
func (c *Cached) object(r *reader, d *jsonDecoder, origin uint64) (f found, ok bool) {
	start, depth := d.pos, d.depth
	if c.Known != nil && (c.Texts == nil || !c.Texts.isEmpty()) {
		d.identity = identity{}
		if !decodeInto(d, &d.identity) {
			return f, false
		}
		if id := d.identity.Metadata; c.Texts == nil || c.Texts.has(d.data[start:d.pos], origin) {
			f.object, f.known = c.Known(id)
			f.version = id.ResourceVersion
		}
	}
	if ok = f.known; !ok {
		d.pos, d.depth = start, depth
		f.object, ok = r.object(d)
	}
	if ok && c.Texts != nil {
		c.Texts.add(d.data[start:d.pos], origin)
	}
	return f, ok
}

// Texts knows which texts a list had, by 64 bits of each. Texts that differ are
// taken for the same by chance, in one of 2^64 cases, which nobody can provoke:
// how they are hashed is decided at random. The zero value is ready; it is safe
// for concurrent use.
type Texts struct {
	mu         sync.Mutex
	seed       maphash.Seed
	last, next sums
}

// origins of texts: the same text makes different objects of items and events.
const (
	ofItem  = 0
	ofEvent = 1
)

// Begin begins another list. What an earlier one added that didn't get to its
// end is forgotten.
func (t *Texts) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seed == (maphash.Seed{}) {
		t.seed = maphash.MakeSeed()
	}
	t.next = sums{}
}

// End says that the list is complete: its texts count from now on.
func (t *Texts) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.next = t.next, sums{}
}

// add notes a text of the list that is being read.
func (t *Texts) add(text []byte, origin uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next.add(t.sum(text, origin))
}

// isEmpty says that there was no list before.
func (t *Texts) isEmpty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.n == 0
}

// has says whether the last list had that text.
func (t *Texts) has(text []byte, origin uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.has(t.sum(text, origin))
}

func (t *Texts) sum(text []byte, origin uint64) uint64 {
	return max(maphash.Bytes(t.seed, text)^origin, 1)
}

// sums is a set of numbers that aren't zero: a table with free places, at least
// as many as there are numbers.
type sums struct {
	places []uint64
	n      int
}

func (s *sums) place(sum uint64) *uint64 {
	mask := uint64(len(s.places) - 1)
	for i := sum & mask; ; i = (i + 1) & mask {
		if p := &s.places[i]; *p == 0 || *p == sum {
			return p
		}
	}
}

func (s *sums) has(sum uint64) bool { return s.n > 0 && *s.place(sum) == sum }

func (s *sums) add(sum uint64) {
	if 2*s.n >= len(s.places) {
		before := s.places
		s.places = make([]uint64, max(16, 2*len(before)))
		for _, one := range before {
			if one != 0 {
				*s.place(one) = one
			}
		}
	}
	if p := s.place(sum); *p == 0 {
		*p = sum
		s.n++
	}
}
