package store

import (
	"hash/maphash"
	"iter"
	"slices"
	"sync/atomic"
)

// LabelValues asks for objects whose Label has one of Values.
type LabelValues struct {
	Label  string
	Values []string
}

// Labeled yields the objects that may have all the labels that are wanted, in no
// particular order: those that have them, few others, and those whose labels can't
// be told. It is for who has no [LabelIndex] to ask, and then looks at the labels.
// The slices must not be changed, and are valid until the next.
//
// The labels of an object in a store must not change, as nothing of it may: they are
// looked at once or never, see looks.
func (s Snapshot[K, T]) Labeled(wanted []LabelValues) iter.Seq[[]T] {
	if len(wanted) == 0 {
		return s.pages()
	}
	return func(yield func([]T) bool) {
		c := candidates[T]{wanted: bitsOf(wanted), yield: yield}
		for _, p := range s.directory {
			if len(p.objects) < pageSize {
				if !yield(p.objects) {
					return
				}
				continue
			}
			labels := p.labels()
			for i := range labels {
				if c.mayBe(&labels[i]) && !c.add(p.objects[i], &labels[i]) {
					return
				}
			}
		}
		c.flush()
	}
}

// LabeledByIndex returns those objects that have a value in the named index and
// would be yielded by Labeled. The error is a *NoIndexError.
func (s *Store[K, T]) LabeledByIndex(name, value string, wanted []LabelValues) (found []T, err error) {
	if len(wanted) == 0 {
		return s.ByIndex(name, value)
	}
	s.mu.RLock()
	x, err := s.live.named(name)
	if err != nil {
		s.mu.RUnlock()
		return nil, err
	}
	slots := slices.Clone(x.lookup(value))
	snapshot, reading := s.live.pages.lend()
	s.mu.RUnlock()
	defer reading.Add(-1)
	c := candidates[T]{wanted: bitsOf(wanted), yield: func(objects []T) bool {
		found = append(found, objects...)
		return true
	}}
	for _, slot := range slots {
		p, i := snapshot.directory[slot>>pageBits], slot&pageMask
		if len(p.objects) < pageSize {
			c.find(p.objects[i])
		} else if labels := p.labels(); c.mayBe(&labels[i]) {
			c.add(p.objects[i], &labels[i])
		}
	}
	c.flush()
	return found, nil
}

// lacking says of an object which labels it lacks: it has the bits that none of its
// labels has, a Bloom filter's inverted. Below looks it counts how often the object
// was asked for instead, and says that it may have any.
type lacking = uint64

// looks is how often an object may be asked for before its labels are looked at
// here. All of them take about as long as a few look-ups of one, which would be lost
// where objects change between one list and the next.
const looks = 4

// pageLabels is what is known of a full page's labels. Readers write it side by side:
// what one overwrites is at worst looked at again. It is copied with the page.
type pageLabels [pageSize]lacking

// labels returns what is known of a full page's labels.
func (p *page[K, T]) labels() *pageLabels {
	if known := p.known.Load(); known != nil {
		return known
	}
	p.known.CompareAndSwap(nil, new(pageLabels))
	return p.known.Load()
}

// forget is for who puts another object into a page that nobody else has.
func (p *page[K, T]) forget(i uint32) {
	if known := p.known.Load(); known != nil {
		known[i] = 0
	}
}

// copyLabels takes over what is known of a page that has the same objects.
func (p *page[K, T]) copyLabels(from *page[K, T]) {
	known := from.known.Load()
	if known == nil {
		p.known.Store(nil)
		return
	}
	for i, own := 0, p.labels(); i < pageSize; i++ {
		own[i] = atomic.LoadUint64(&known[i])
	}
}

// atOnce is how many objects' labels are fetched before the first of them are
// looked at, so that a processor waits for their memory at once and not in turn.
const atOnce = 32

// candidates collects objects that may have labels, and yields some at a time.
type candidates[T any] struct {
	wanted  [][]lacking
	yield   func([]T) bool
	found   []T
	unknown []unknown[T]
}

// unknown is an object that is to be looked at, and where to leave what it lacks.
type unknown[T any] struct {
	object T
	labels map[string]string
	leave  *lacking
}

// mayBe says whether an object may have one of each of the wanted labels.
func (c *candidates[T]) mayBe(l *lacking) bool {
	lacks := atomic.LoadUint64(l)
next:
	for _, alternatives := range c.wanted {
		for _, bits := range alternatives {
			if lacks&bits == 0 {
				continue next
			}
		}
		return false
	}
	return true
}

// add takes an object that may be one. Like all that follows, it returns false
// once nobody wants more.
func (c *candidates[T]) add(object T, l *lacking) bool {
	if asked := atomic.LoadUint64(l); asked < looks-1 {
		atomic.StoreUint64(l, asked+1)
		return c.find(object)
	} else if asked >= looks {
		return c.find(object)
	}
	c.unknown = append(c.unknown, unknown[T]{object: object, leave: l})
	return len(c.unknown) < atOnce || c.learn()
}

func (c *candidates[T]) find(object T) bool {
	c.found = append(c.found, object)
	return len(c.found) < atOnce || c.pass()
}

func (c *candidates[T]) pass() bool {
	found := c.found
	c.found = found[:0]
	return c.yield(found)
}

// learn looks at the labels of what is unknown.
func (c *candidates[T]) learn() bool {
	for i := range c.unknown {
		u := &c.unknown[i]
		if labeled, ok := any(u.object).(labeled); ok {
			u.labels = labeled.GetLabels()
		} else {
			u.leave = nil
		}
	}
	for _, u := range c.unknown {
		if u.leave != nil {
			bits := lacking(0)
			for label, value := range u.labels {
				bits |= bitsOfLabel(label, value)
			}
			atomic.StoreUint64(u.leave, ^bits)
			if !c.mayBe(u.leave) {
				continue
			}
		}
		if !c.find(u.object) {
			return false
		}
	}
	c.unknown = c.unknown[:0]
	return true
}

func (c *candidates[T]) flush() {
	if c.learn() && len(c.found) > 0 {
		c.pass()
	}
}

func bitsOf(wanted []LabelValues) [][]lacking {
	bits := make([][]lacking, len(wanted))
	for i, w := range wanted {
		for _, value := range w.Values {
			bits[i] = append(bits[i], bitsOfLabel(w.Label, value))
		}
	}
	return bits
}

var labelSeed = maphash.MakeSeed()

// bitsOfLabel returns three bits, or fewer: of objects with five other labels one in
// a hundred seems to have the label, with ten one in twenty.
func bitsOfLabel(label, value string) lacking {
	hash := maphash.Comparable(labelSeed, [2]string{label, value})
	return (1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63)) &^ (looks - 1)
}
