package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// model is the expected state of a store.
type model struct {
	objects map[string]any // each an *object
	indexes map[string]IndexFunc
	version string
}

func (m *model) clone() *model {
	return &model{maps.Clone(m.objects), maps.Clone(m.indexes), m.version}
}

func sorted(list []any) []*object {
	objects := cast[*object](list)
	slices.SortFunc(objects, func(a, b *object) int { return strings.Compare(a.Name, b.Name) })
	return objects
}

// check compares everything that can be read with the model.
func (m *model) check(t *testing.T, s *Store[string]) {
	t.Helper()
	m.checkSnapshot(t, s.Snapshot())
	if s.Len() != len(m.objects) || s.ResourceVersion() != m.version {
		t.Fatalf("%s: Len %d, version %q, want %d, %q", guarantee.Complete, s.Len(), s.ResourceVersion(),
			len(m.objects), m.version)
	}
	for i := range names {
		key := name(i)
		got, version, ok := s.Lookup(key)
		want, wantOK := m.objects[key]
		if got != want || ok != wantOK || (ok && version != want.(*object).Version) || has(s, key) != ok {
			t.Fatalf("%s: Lookup(%s) = %v, %q, %t, want %v", guarantee.Complete, key, got, version, ok, want)
		}
		if got, ok := s.Get(key); got != want || ok != wantOK {
			t.Fatalf("%s: Get(%s) = %v, %t, want %v", guarantee.Complete, key, got, ok, want)
		}
	}
	for name, values := range m.indexes {
		postings := map[string][]any{}
		for _, o := range m.objects {
			for _, value := range values(o) {
				if !slices.Contains(postings[value], o) {
					postings[value] = append(postings[value], o)
				}
			}
		}
		if got, want := s.IndexValues(name), slices.Collect(maps.Keys(postings)); !sameSet(got, want) {
			t.Fatalf("%s: IndexValues(%s) = %q, want %q", guarantee.IndexEqualsScan, name, got, want)
		}
		if x, err := s.live.named(name); err != nil || len(x.ids) != len(postings) {
			t.Fatalf("%s: index %s keeps %d values in memory, objects have %d", guarantee.BoundedMemory, name,
				len(x.ids), len(postings))
		}
		for i := range rare {
			// Look up values without an object, too.
			if value := fmt.Sprint("rare-", i); postings[value] == nil {
				postings[value] = nil
			}
		}
		for value, want := range postings {
			checkLabeled(t, want, func(wanted []LabelValues) []any {
				found, err := s.LabeledByIndex(name, value, wanted)
				if err != nil {
					t.Fatal(err)
				}
				return found
			})
			got, err := s.ByIndex(name, value)
			if err != nil || !slices.Equal(sorted(got), sorted(want)) {
				t.Fatalf("%s: ByIndex(%s, %s) = %v, %v, want %v", guarantee.IndexEqualsScan, name, value, got, err, want)
			}
			keys, err := s.IndexKeys(name, value)
			if err != nil || len(keys) != len(want) ||
				slices.ContainsFunc(want,
					func(o any) bool { return !slices.Contains(keys, o.(*object).Name) }) {
				t.Fatalf("%s: IndexKeys(%s, %s) = %v, %v, want %v", guarantee.IndexEqualsScan, name, value, keys,
					err, want)
			}
		}
	}
}

func (m *model) checkSnapshot(t *testing.T, s Snapshot[string]) {
	t.Helper()
	if got := maps.Collect(s.All()); !maps.Equal(got, m.objects) || s.Len() != len(m.objects) ||
		s.ResourceVersion() != m.version {
		t.Fatalf("%s: snapshot %q of %d: %v, want %q: %v", guarantee.Complete, s.ResourceVersion(), s.Len(), got,
			m.version, m.objects)
	}
	want := slices.Collect(maps.Values(m.objects))
	if !sameSet(s.List(), want) || !sameSet(slices.Collect(s.Values()), want) ||
		!sameSet(s.Keys(), slices.Collect(maps.Keys(m.objects))) {
		t.Fatalf("%s: snapshot lists %v, %v, want %v", guarantee.Complete, s.List(), s.Keys(), want)
	}
	checkLabeled(t, slices.Collect(maps.Values(m.objects)), func(wanted []LabelValues) (found []any) {
		for objects := range s.Labeled(wanted) {
			found = append(found, objects...)
		}
		return found
	})
	for c := range s.Changes() {
		if o, _ := m.objects[c.Key].(*object); c != (Change[string]{Type: Added, Key: c.Key, Object: o,
			Version: o.Version}) {
			t.Fatalf("%s: snapshot has %+v, want %v added", guarantee.Complete, c, o)
		}
	}
}

func sameSet[E comparable](a, b []E) bool {
	counts := map[E]int{}
	for _, e := range a {
		counts[e]++
	}
	for _, e := range b {
		counts[e]--
	}
	return !slices.ContainsFunc(slices.Collect(maps.Values(counts)), func(n int) bool { return n != 0 })
}

// apply makes one change to the model and returns it as Apply must report it.
func (m *model) apply(c Change[string]) Change[string] {
	old, existed := m.objects[c.Key]
	switch {
	case c.Type == Deleted && !existed:
		c.Type = None
	case c.Type == Deleted:
		delete(m.objects, c.Key)
	default:
		c.Type = Added
		if existed {
			c.Type = Updated
		}
		m.objects[c.Key] = c.Object
	}
	if existed {
		c.Old, c.OldVersion = old, old.(*object).Version
	}
	if c.Version != "" {
		m.version = c.Version
	}
	return c
}

// step performs one random operation on both the store and the model.
func (m *model) step(t *testing.T, r *random, s *Store[string]) {
	switch o := r.object(); r.IntN(20) {
	default:
		want := m.apply(Change[string]{Type: Added, Key: o.Name, Object: o, Version: o.Version})
		if old, existed := put(s, o); old != want.Old || existed != (want.Type == Updated) {
			t.Fatalf("%s: Put(%v) = %v, %t, want %v", guarantee.Complete, o, old, existed, want.Old)
		}
	case 0, 1, 2, 3, 4, 5, 6:
		want := m.apply(Change[string]{Type: Deleted, Key: o.Name})
		if old, existed := s.Delete(o.Name); old != want.Old || existed != (want.Type == Deleted) {
			t.Fatalf("%s: Delete(%v) = %v, %t, want %v", guarantee.Complete, o, old, existed, want.Old)
		}
	case 7:
		m.version = r.version()
		s.Bookmark(m.version)
	case 8, 9:
		changes := make([]Change[string], r.IntN(100))
		want := make([]Change[string], len(changes))
		for i := range changes {
			o := r.object()
			changes[i] = Change[string]{Type: Added, Key: o.Name, Object: o, Version: o.Version}
			if r.IntN(3) == 0 {
				changes[i].Type = Deleted
			}
			want[i] = m.apply(changes[i])
		}
		if s.Apply(changes); !slices.Equal(changes, want) {
			t.Fatalf("%s: Apply = %v, want %v", guarantee.Complete, changes, want)
		}
	case 10:
		if r.IntN(10) == 0 {
			m.replace(t, r, s)
		}
	case 11:
		s.Begin().Set(o.Name, o, o.Version)
		discarded := s.Begin()
		discarded.Set(o.Name, o, o.Version)
		discarded.Discard()
	}
}

// replace commits a replacement and checks the changes that it returns.
func (m *model) replace(t *testing.T, r *random, s *Store[string]) {
	staged := s.Begin()
	before := maps.Clone(m.objects)
	m.objects = map[string]any{}
	var order []string
	for range r.IntN(names) {
		o := r.object()
		staged.Set(o.Name, o, o.Version)
		if _, twice := m.objects[o.Name]; !twice {
			order = append(order, o.Name)
		}
		m.objects[o.Name] = o
	}
	if staged.Len() != len(m.objects) {
		t.Fatalf("%s: %d staged, want %d", guarantee.Complete, staged.Len(), len(m.objects))
	}
	m.version = r.version()
	changes := staged.Commit(m.version)
	var added, updated, deleted int
	for c := range changes.All() {
		old := before[c.Key]
		want := Change[string]{Key: c.Key, Old: old}
		if old != nil {
			want.OldVersion = old.(*object).Version
		}
		if o, ok := m.objects[c.Key]; ok {
			if order[0] != c.Key {
				t.Fatalf("%s: change of %s, want the order of staging: %s", guarantee.Ordered, c.Key, order[0])
			}
			order = order[1:]
			want.Object, want.Version = o, o.(*object).Version
			if want.Type = Added; old != nil {
				want.Type = Updated
			}
		} else if want.Type = Deleted; added+updated > 0 {
			t.Fatalf("%s: deletion of %s after other changes", guarantee.Ordered, c.Key)
		}
		if c != want {
			t.Fatalf("%s: change %+v, want %+v", guarantee.Complete, c, want)
		}
		switch c.Type {
		case Added:
			added++
		case Updated:
			updated++
		case Deleted:
			deleted++
		}
		delete(before, c.Key)
	}
	for key := range before {
		if _, ok := m.objects[key]; !ok {
			t.Fatalf("%s: deletion of %s missing", guarantee.Complete, key)
		}
	}
	if len(order) > 0 || changes.Len() != added+updated+deleted {
		t.Fatalf("%s: %d changes, want %d, %d, %d; missing %v", guarantee.Complete, changes.Len(), added,
			updated, deleted, order)
	}
}

// view is a snapshot and its expected contents.
type view struct {
	snapshot Snapshot[string]
	then     *model
}

// look takes and drops views, of which there may be several at once. At times there is none: then writes soon
// need no more copies of pages.
func (m *model) look(t *testing.T, r *random, s *Store[string], views []view, begin bool) []view {
	if len(views) > 0 && r.IntN(8) < 2+len(views) {
		i := r.IntN(len(views))
		views[i].then.checkSnapshot(t, views[i].snapshot)
		views = slices.Delete(views, i, i+1)
	}
	if begin && r.IntN(3) == 0 {
		views = append(views, view{s.Snapshot(), m.clone()})
	}
	return views
}
