package store

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LabelValues asks for objects whose Label has one of Values.
type LabelValues struct {
	Label  string
	Values []string
}

// Labeled yields the objects that may have all the labels that are wanted, in no
// particular order: those that have them, and others of which that isn't known. It
// is for who has no [LabelIndex] to ask, and then looks at the labels. The slices
// must not be changed, and are valid until the next.
//
// The labels of an object in a store must not change, as nothing of it may: those
// that were seen count until the object is put again.
func (s Snapshot[K]) Labeled(wanted []LabelValues) iter.Seq[[]any] {
	if len(wanted) == 0 {
		return s.Pages()
	}
	return func(yield func([]any) bool) {
		c := candidates{wanted: bitsOf(wanted), yield: yield}
		for _, p := range s.directory {
			c.learning = learns()
			known := p.labels(c.learning)
			if known == nil {
				if !yield(p.objects) {
					return
				}
				continue
			}
			for i := range known {
				if c.mayMatch(&known[i]) && !c.add(p.objects[i], &known[i]) {
					return
				}
			}
		}
		c.flush()
	}
}

// LabeledByIndex returns those objects that have a value in the named index and
// would be yielded by Labeled. The error is a *NoIndexError.
func (s *Store[K]) LabeledByIndex(name, value string, wanted []LabelValues) (found []any, err error) {
	if len(wanted) == 0 || s.Len() < pageSize {
		return s.ByIndex(name, value)
	}
	s.mu.RLock()
	x, err := s.live.named(name)
	if err != nil {
		s.mu.RUnlock()
		return nil, err
	}
	slots := slices.Clone(x.lookup(value))
	snapshot := s.snapshot()
	s.mu.RUnlock()
	c := candidates{wanted: bitsOf(wanted), learning: learns(), yield: func(objects []any) bool {
		found = append(found, objects...)
		return true
	}}
	for _, slot := range slots {
		p, i := snapshot.directory[slot>>pageBits], slot&pageMask
		if known := p.labels(c.learning); known == nil {
			c.find(p.objects[i])
		} else if c.mayMatch(&known[i]) {
			c.add(p.objects[i], &known[i])
		}
	}
	c.flush()
	return found, nil
}

// learns says whether a list is to leave summaries of labels that it sees for the
// first time, which one in many does: making them takes as long as 5 to 20 looks
// for one label, which is lost where the objects change before the next lists.
func learns() bool { return rand.IntN(32) == 0 }

// summary says of an object which labels it lacks: it has the bits that none of the
// object's labels has, a Bloom filter's inverted. Zero is none.
type summary = uint64

const (
	// anyLabels is the summary of an object that may have any.
	anyLabels summary = 1
	// maxSummary is of how many labels a summary is made. An object with so many
	// seems to have a tenth of all labels.
	maxSummary = 12
)

// pageSummaries is the summaries of a full page. Readers write them side by side, all
// the same. They are copied with the page.
type pageSummaries [pageSize]summary

// labels returns the summaries of a page, or nil if there are none. Full pages get
// them if a list is learning.
func (p *page[K]) labels(learning bool) *pageSummaries {
	known := p.summaries.Load()
	if known == nil && learning && len(p.objects) == pageSize {
		p.summaries.CompareAndSwap(nil, new(pageSummaries))
		known = p.summaries.Load()
	}
	return known
}

// forget is for who puts another object into a page that nobody else has.
func (p *page[K]) forget(i uint32) {
	if known := p.summaries.Load(); known != nil {
		known[i] = 0
	}
}

// copySummaries takes over the summaries of a page that has the same objects.
func (p *page[K]) copySummaries(from *page[K]) {
	known := from.summaries.Load()
	if known == nil {
		p.summaries.Store(nil)
		return
	}
	for i, own := 0, p.labels(true); i < pageSize; i++ {
		own[i] = atomic.LoadUint64(&known[i])
	}
}

// atOnce is how many objects' labels are fetched before the first of them are
// looked at, so that a processor waits for their memory at once and not in turn.
const atOnce = 32

// candidates collects objects that may match, and yields some at a time. Its
// methods that return something return false once nobody wants more.
type candidates struct {
	wanted   [][]summary
	yield    func([]any) bool
	found    []any
	learning bool
	unknown  []unknown
}

// unknown is an object without a summary, and where to leave that.
type unknown struct {
	object  any
	labels  map[string]string
	summary *summary
}

// mayMatch says whether an object may have one of each of the wanted labels.
func (c *candidates) mayMatch(s *summary) bool {
	lacks := atomic.LoadUint64(s)
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

// add takes an object that may match.
func (c *candidates) add(object any, s *summary) bool {
	if !c.learning || atomic.LoadUint64(s) > 0 {
		return c.find(object)
	}
	c.unknown = append(c.unknown, unknown{object: object, summary: s})
	return len(c.unknown) < atOnce || c.learn()
}

func (c *candidates) find(object any) bool {
	c.found = append(c.found, object)
	return len(c.found) < atOnce || c.pass()
}

func (c *candidates) pass() bool {
	found := c.found
	c.found = found[:0]
	return c.yield(found)
}

// learn leaves summaries of what is unknown. Only labels of a [metav1.Object] are
// sure to be those that a selector is asked about.
func (c *candidates) learn() bool {
	for i := range c.unknown {
		if object, ok := any(c.unknown[i].object).(metav1.Object); ok {
			c.unknown[i].labels = object.GetLabels()
		} else {
			atomic.StoreUint64(c.unknown[i].summary, anyLabels)
		}
	}
	for _, u := range c.unknown {
		if atomic.LoadUint64(u.summary) == 0 {
			atomic.StoreUint64(u.summary, summaryOf(u.labels))
		}
		if c.mayMatch(u.summary) && !c.find(u.object) {
			return false
		}
	}
	c.unknown = c.unknown[:0]
	return true
}

func (c *candidates) flush() {
	if c.learn() && len(c.found) > 0 {
		c.pass()
	}
}

func summaryOf(labels map[string]string) summary {
	if len(labels) > maxSummary {
		return anyLabels
	}
	bits := summary(0)
	for label, value := range labels {
		bits |= bitsOfLabel(label, value)
	}
	return ^bits
}

func bitsOf(wanted []LabelValues) [][]summary {
	bits := make([][]summary, len(wanted))
	for i, w := range wanted {
		for _, value := range w.Values {
			bits[i] = append(bits[i], bitsOfLabel(w.Label, value))
		}
	}
	return bits
}

// bitsOfLabel returns a bit of each third of a summary: of objects with five other
// labels one in a hundred seems to have the label, with ten one in sixteen. The
// lowest bit, that of anyLabels, is none of them, so that no summary is zero.
func bitsOfLabel(label, value string) summary {
	hash := hashing.texts(label, value)
	return 1<<(1+hash%21) | 1<<(22+hash>>16%21) | 1<<(43+hash>>32%21)
}
