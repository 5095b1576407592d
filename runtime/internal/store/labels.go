package store

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LabelValues selects the objects whose Label has one of Values.
type LabelValues struct {
	Label  string
	Values []string
}

// Labeled yields the objects that may have all wanted labels, in no particular order:
// every object that has them, and others. The caller must check the labels. It is for a
// list by labels without a [LabelIndex]. The slices must not be changed, and are valid
// until the next one.
//
// The labels of an object in a store must not change: a summary of them counts until the
// object is put again.
func (s Snapshot[K]) Labeled(wanted []LabelValues) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		c := newCandidates(wanted)
		for _, p := range s.directory {
			c.learning = len(wanted) > 0 && learns()
			summaries := p.summariesFor(c.learning)
			if summaries == nil || len(wanted) == 0 {
				if !yield(p.objects) {
					return
				}
				continue
			}
			for i := range summaries {
				if !c.mayMatch(&summaries[i]) {
					continue
				}
				c.add(p.objects[i], &summaries[i])
				if len(c.found) == atOnce {
					if !yield(c.found) {
						return
					}
					c.found = c.found[:0]
				}
			}
		}
		if len(c.found) > 0 {
			yield(c.found)
		}
	}
}

// LabeledByIndex returns the objects that have a value in the named index and may have
// all wanted labels, see Labeled. The error is a *[lister.NoIndexError].
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
	c := newCandidates(wanted)
	c.learning = learns()
	for _, slot := range slots {
		p, i := snapshot.directory[slot>>pageBits], slot&pageMask
		if summaries := p.summariesFor(c.learning); summaries == nil {
			c.found = append(c.found, p.objects[i])
		} else if c.mayMatch(&summaries[i]) {
			c.add(p.objects[i], &summaries[i])
		}
	}
	return c.found, nil
}

// learns reports whether a list stores the summaries of labels that are missing, as one
// in 32 does. Making a summary takes as long as 5 to 20 look-ups of one label, and is
// wasted if the object changes before the next list. Writers don't make summaries: one of
// six labels takes 120 ns and more, a third of an update.
func learns() bool { return rand.IntN(32) == 0 }

// summary shows which labels an object lacks. It is an inverted Bloom filter: it has the
// bits that none of the object's labels has. Zero means that nothing is known.
type summary = uint64

const (
	// anyLabels is the summary of an object that may have any labels.
	anyLabels summary = 1
	// maxSummary is the largest number of labels for which a summary is made. An object
	// with so many seems to have a tenth of all labels.
	maxSummary = 12
	// atOnce is how many candidates are yielded at once, if there are that many: the
	// processor can then wait for the memory of several at a time.
	atOnce = 32
)

// pageSummaries holds the summaries of a full page. Readers write them concurrently, but
// always the same values. They are copied with the page.
type pageSummaries [pageSize]summary

// summariesFor returns the summaries of a page, or nil if there are none. Full pages get
// them if a list is learning.
func (p *page[K]) summariesFor(learning bool) *pageSummaries {
	summaries := p.summaries.Load()
	if summaries == nil && learning && len(p.objects) == pageSize {
		p.summaries.CompareAndSwap(nil, new(pageSummaries))
		summaries = p.summaries.Load()
	}
	return summaries
}

// forget drops a summary of a page that no snapshot has.
func (p *page[K]) forget(i uint32) {
	if summaries := p.summaries.Load(); summaries != nil {
		summaries[i] = 0
	}
}

// copySummaries gives a new page the summaries of one with the same objects.
func (p *page[K]) copySummaries(from *page[K]) {
	others := from.summaries.Load()
	if others == nil {
		return
	}
	own := new(pageSummaries)
	for i := range own {
		own[i] = atomic.LoadUint64(&others[i])
	}
	p.summaries.Store(own)
}

// candidates collects the objects that may have all wanted labels.
type candidates struct {
	// wanted has, for each label, the bits of its alternative values.
	wanted   [][]summary
	learning bool
	found    []any
}

func newCandidates(wanted []LabelValues) *candidates {
	c := &candidates{wanted: make([][]summary, len(wanted))}
	for i, w := range wanted {
		for _, value := range w.Values {
			c.wanted[i] = append(c.wanted[i], bitsOf(w.Label, value))
		}
	}
	return c
}

// mayMatch reports whether an object with this summary may have all wanted labels. Lists
// call it for every object, so it reads only the summary and is small enough to be inlined:
// a list of 10 in a namespace of 1,000 takes 12 us instead of 14 (lister's BenchmarkList).
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

// add adds an object whose summary may match. A list that is learning first makes the
// summary if nothing is known.
func (c *candidates) add(object any, s *summary) {
	if c.learning && atomic.LoadUint64(s) == 0 {
		atomic.StoreUint64(s, summaryOf(object))
		if !c.mayMatch(s) {
			return
		}
	}
	c.found = append(c.found, object)
}

// summaryOf summarizes the labels of a [metav1.Object]. For other objects it isn't known
// which labels a selector is matched with.
func summaryOf(object any) summary {
	labeled, ok := object.(metav1.Object)
	if !ok {
		return anyLabels
	}
	labels := labeled.GetLabels()
	if len(labels) > maxSummary {
		return anyLabels
	}
	bits := summary(0)
	for label, value := range labels {
		bits |= bitsOf(label, value)
	}
	return ^bits
}

// bitsOf returns one bit in each third of a summary. Of the objects with five other labels
// one in a hundred then seems to have the label, of those with ten one in sixteen. The
// lowest bit, that of anyLabels, is never used, so that no summary is zero.
func bitsOf(label, value string) summary {
	hash := hashing.texts(label, value)
	return 1<<(1+hash%21) | 1<<(22+hash>>16%21) | 1<<(43+hash>>32%21)
}
