package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// wants are labels of the model's objects, one or several, there or not, with
// values that they have and others.
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

// checkLabeled asks for labels of objects: all that have them must be found, nothing
// twice, and nothing else than these objects.
func checkLabeled(t *testing.T, objects []any, labeled func([]LabelValues) []any) {
	t.Helper()
	for _, wanted := range wants {
		left := map[any]bool{}
		for _, o := range objects {
			left[o] = true
		}
		for _, o := range labeled(wanted) {
			if !left[o] {
				t.Fatalf("%v: %v is found twice, or isn't there", wanted, o)
			}
			delete(left, o)
		}
		for o := range left {
			if hasLabels(o.(*object).GetLabels(), wanted) {
				t.Fatalf("%v: %v is not found", wanted, o)
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

// asks is how often tests ask for labels for every page to have its summaries: none
// is left without in 10^12 runs.
const asks = 1000

// Once there are summaries, few objects are found that don't have the labels: one in
// a hundred is expected. A page that isn't full is found whole, and so are objects
// with many labels, which aren't looked at again and again.
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
	n := 0
	for objects := range s.Snapshot().Labeled(wants[1]) {
		n += len(objects)
	}
	if n != s.Len() {
		t.Errorf("%d of %d are found", n, s.Len())
	}
}

// What has no labels that could be told may have any.
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
		err.Error() != (&NoIndexError{"none"}).Error() {
		t.Error(err)
	}
}

// What is known of an object's labels isn't taken for known of what comes to its
// slot in a page, nor into a page of which this one becomes a copy.
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
	// Of the first pages all is known, and copies come and go.
	ask("one", one, ones)
	for i := range 10 {
		read(func() { put(s, &object{Name: name(i), Labels: "one"}) })
	}
	// Of the last one nothing is.
	read(func() { put(s, &object{Name: name(ones), Labels: "two"}) })
	ask("two", two, twos)
	// The last object goes, and another comes.
	s.Delete(name(ones + twos - 1))
	put(s, &object{Name: "another", Labels: "one"})
	ask("one", one, ones+1)
}
