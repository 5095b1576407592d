package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/lister"
)

// wants are requirements: one label or several, present or not, with values that objects have and others.
var wants = [][]LabelValues{
	nil,
	{{"a", []string{"a"}}},
	{{"a", []string{"b", "c"}}},
	{{"a", []string{"b"}}, {"b", []string{"b"}}},
	{{"rare-1", []string{"r"}}},
	{{"rare-1", []string{"a"}}},
	{{"none", []string{"a", "b", "c"}}},
	{{"a", nil}},
}

// checkLabeled lists objects by labels. The result must contain all objects that have them, none twice, and
// no objects that aren't in the store.
func checkLabeled(t *testing.T, objects []any, labeled func([]LabelValues) []any) {
	t.Helper()
	for _, wanted := range wants {
		left := map[any]bool{}
		for _, o := range objects {
			left[o] = true
		}
		for _, o := range labeled(wanted) {
			if !left[o] {
				t.Fatalf("%s: %v: %v is found twice, or isn't there", guarantee.IndexEqualsScan, wanted, o)
			}
			delete(left, o)
		}
		for o := range left {
			if hasLabels(o.(*object).GetLabels(), wanted) {
				t.Fatalf("%s: %v: %v is not found", guarantee.IndexEqualsScan, wanted, o)
			}
		}
	}
}

func hasLabels(set map[string]string, wanted []LabelValues) bool {
	return !slices.ContainsFunc(wanted, func(w LabelValues) bool {
		value, ok := set[w.Label]
		return !ok || !slices.Contains(w.Values, value)
	})
}

// asks is the number of lists after which all pages have their summaries, except in one of 10^12 runs.
const asks = 1000

// TestLabeledFindsFewOthers checks that, once there are summaries, few objects are returned that don't have
// the labels: one in a hundred is expected. A page that isn't full is returned whole. Objects with many
// labels are always returned; otherwise they would be summarized again and again.
func TestLabeledFindsFewOthers(t *testing.T) {
	s := newStore()
	for i := range 40*pageSize + 1 {
		put(s, &object{Name: name(i), Labels: fmt.Sprintf("ten-%d,b-%d,c-%d,d-%d,e-%d", i/10, i, i, i, i)})
	}
	var many strings.Builder
	for i := range maxSummary + 1 {
		fmt.Fprint(&many, "many-", i, ",")
	}
	put(s, &object{Name: name(1000), Labels: many.String()})
	n := 0
	for range asks {
		n = 0
		for objects := range s.Snapshot().Labeled([]LabelValues{{"ten-7", []string{"t"}}}) {
			n += len(objects)
		}
		if n < 12 || n > s.Len() {
			t.Fatalf("%d of %d objects are found", n, s.Len())
		}
	}
	if n > s.Len()/20 {
		t.Errorf("%d objects are found for a label of 10 of %d", n, s.Len())
	}
	if known := s.live.pages.directory[1000/pageSize].summaries.Load(); known[1000%pageSize] != anyLabels {
		t.Errorf("the summary of many labels is %b", known[1000%pageSize])
	}
}

// TestLabeledMayBeLeft checks that a list can be left, and later lists still return everything, in slices of
// atOnce once there are summaries.
func TestLabeledMayBeLeft(t *testing.T) {
	s := newStore()
	for i := range 4*pageSize + 1 {
		put(s, &object{Name: name(i), Labels: "a"})
	}
	for range asks {
		for range s.Snapshot().Labeled(wants[1]) {
			break
		}
	}
	largest := 0
	for range asks {
		n := 0
		largest = 0
		for objects := range s.Snapshot().Labeled(wants[1]) {
			n += len(objects)
			largest = max(largest, len(objects))
		}
		if n != s.Len() {
			t.Errorf("%d of %d are found", n, s.Len())
		}
	}
	if largest != atOnce {
		t.Errorf("%d objects at once", largest)
	}
}

// TestLabeledWithoutLabels checks that objects whose labels can't be read are always returned.
func TestLabeledWithoutLabels(t *testing.T) {
	s := newIndexed[int](map[string]IndexFunc{"all": func(any) []string { return []string{"all"} }})
	for i := range 2*pageSize + 1 {
		s.Set(i, i, "")
	}
	for range asks {
		n := 0
		for objects := range s.Snapshot().Labeled(wants[1]) {
			n += len(objects)
		}
		if found, err := s.LabeledByIndex("all", "all", wants[1]); n != s.Len() ||
			len(found) != n || err != nil {
			t.Errorf("%d and %d of %d are found, %v", n, len(found), s.Len(), err)
		}
	}
	if _, err := s.LabeledByIndex("none", "all", wants[1]); err == nil ||
		err.Error() != (&lister.NoIndexError{Name: "none"}).Error() {
		t.Error(err)
	}
}

// TestLabeledAfterOthers checks that the summary of an object's labels isn't used for the next object in its
// slot, nor in a copy of its page.
func TestLabeledAfterOthers(t *testing.T) {
	s := newStore()
	const ones, twos = 7 * pageSize, pageSize
	for i := range ones + twos {
		put(s, &object{Name: name(i), Labels: []string{"one", "two"}[i/ones]})
	}
	one, two := []LabelValues{{"one", []string{"o"}}}, []LabelValues{{"two", []string{"t"}}}
	ask := func(label string, wanted []LabelValues, want int) {
		t.Helper()
		for range asks {
			if found, err := s.LabeledByIndex("label", label, wanted); len(found) != want || err != nil {
				t.Fatalf("%d objects of %q are found, want %d: %v", len(found), label, want, err)
			}
		}
	}
	// A write copies the page that a snapshot has.
	read := func(then func()) { s.Snapshot(); then() }
	// The first pages have complete summaries, and are copied several times.
	ask("one", one, ones)
	for i := range 10 {
		read(func() { put(s, &object{Name: name(i), Labels: "one"}) })
	}
	// The last page has none.
	read(func() { put(s, &object{Name: name(ones), Labels: "two"}) })
	ask("two", two, twos)
	// The last object is deleted, and another takes its slot.
	s.Delete(name(ones + twos - 1))
	put(s, &object{Name: "another", Labels: "one"})
	ask("one", one, ones+1)
}
