package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is small and comparable, and has the attributes that a model needs.
type object struct {
	metav1.Object // nil: tests use only its labels

	Name    string
	Labels  string // comma-separated
	Version string
}

// GetLabels makes each of them a label, whose value is the first letter of Labels.
func (o *object) GetLabels() map[string]string {
	set := map[string]string{}
	for _, label := range o.labels() {
		set[label] = o.Labels[:1]
	}
	return set
}

func byLabel(o any) []string { return o.(*object).labels() }

func (o *object) labels() []string {
	if o.Labels == "" {
		return nil
	}
	return strings.Split(o.Labels, ",")
}

func byLength(o any) []string { return []string{fmt.Sprint(len(o.(*object).Labels))} }

// put stores an object under its name.
func put(s *Store[string], o *object) (old any, existed bool) { return s.Set(o.Name, o, o.Version) }

// has reports whether there is an object under a key.
func has[K comparable](s *Store[K], key K) bool {
	_, ok := s.Get(key)
	return ok
}

// cast converts the objects that a store returned to their common type.
func cast[T any](list []any) []T {
	typed := make([]T, len(list))
	for i, object := range list {
		typed[i] = object.(T)
	}
	return typed
}

// newIndexed returns a store with indexes.
func newIndexed[K comparable](indexes map[string]IndexFunc) *Store[K] {
	s := New[K]()
	if err := s.AddIndexes(indexes); err != nil {
		panic(err)
	}
	return s
}

func newStore() *Store[string] { return newIndexed[string](map[string]IndexFunc{"label": byLabel}) }

// names need several pages, so that pages are added and removed.
const names = 2*pageSize + 100

func name(i int) string { return fmt.Sprintf("name-%d", i) }

// rare is the number of values that few objects have, so that values appear and disappear.
const rare = 300

// longLabels are values of about the greatest length that an index copies, and an
// empty one.
var longLabels = func() []string {
	short := strings.Repeat("x", maxShort)
	return []string{short, short[1:], short + "x", short + "y", short + "," + short + "x", "a,",
		"a," + short + "x"}
}()

type random struct {
	*rand.Rand
	versions int
	// few concentrates the operations on a handful of objects and values.
	few bool
}

func (r *random) version() string {
	r.versions++
	return fmt.Sprint(r.versions)
}

func (r *random) object() *object {
	names, rare := names, rare
	if r.few {
		names, rare = 4, 4
	}
	labels := []string{"", "a", "b", "a,b", "b,a", "a,a", "c,a,b", fmt.Sprint("rare-", r.IntN(rare)),
		longLabels[r.IntN(len(longLabels))]}
	return &object{Name: name(r.IntN(names)), Labels: labels[r.IntN(len(labels))], Version: r.version()}
}

// TestModel performs random operations on a store and a model of it. The store must equal the model after
// each, and snapshots must stay unchanged.
func TestModel(t *testing.T) {
	steps := 3000
	if testing.Short() {
		steps = 600
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := &random{Rand: rand.New(rand.NewPCG(seed, 0)), few: seed >= 4}
			s := newStore()
			m := &model{objects: map[string]any{}, indexes: map[string]IndexFunc{"label": byLabel}}
			snapshot, then := s.Snapshot(), m.clone()
			var views []view
			for i := range steps {
				m.step(t, r, s)
				views = m.look(t, r, s, views, i*6/steps%3 < 2)
				if i == steps/3 {
					m.indexes["length"] = byLength
					if err := s.AddIndexes(map[string]IndexFunc{"length": byLength}); err != nil {
						t.Fatal(err)
					}
				}
				if i%17 == 0 {
					m.check(t, s)
				}
				if i/100%3 == 0 && r.IntN(20) == 0 {
					then.checkSnapshot(t, snapshot)
					snapshot, then = s.Snapshot(), m.clone()
				}
			}
			for key := range maps.Clone(m.objects) {
				delete(m.objects, key)
				s.Delete(key)
			}
			m.check(t, s)
			then.checkSnapshot(t, snapshot)
		})
	}
}

// TestChurnDoesNotGrow checks that objects that are added and deleted leave nothing behind.
func TestChurnDoesNotGrow(t *testing.T) {
	s := newStore()
	for i := range 100_000 {
		put(s, &object{Name: fmt.Sprint(i), Labels: fmt.Sprint(i, ",", i+1)})
		s.Delete(fmt.Sprint(i - 10))
	}
	g := s.live
	x := g.indexes[0]
	if len(g.pages.directory) != 1 || len(g.table.buckets) > 4 || len(x.ids) != 11 || len(x.postings) > 20 ||
		len(x.several) != 10 || cap(g.refs.values) > 32 {
		t.Errorf("10 objects need %d pages, %d buckets, %d values of %d postings, %d refs",
			len(g.pages.directory), len(g.table.buckets), len(x.ids), len(x.postings), cap(g.refs.values))
	}
}

func TestChangeTypeNames(t *testing.T) {
	for changeType, want := range map[ChangeType]string{
		None: "None", Added: "Added", Updated: "Updated", Deleted: "Deleted", Deleted + 1: "Invalid",
		255: "Invalid",
	} {
		if got := changeType.String(); got != want {
			t.Errorf("%d is %s, not %s", changeType, got, want)
		}
	}
}

func TestAddIndexesRefusesATakenName(t *testing.T) {
	s := newBank()
	err := s.AddIndexes(map[string]IndexFunc{"new": func(any) []string { return nil }, "bank": nil})
	if err == nil || s.HasIndex("new") {
		t.Errorf("%v, new index added: %t", err, s.HasIndex("new"))
	}
}

func TestAddIndexesRefusesNoFunction(t *testing.T) {
	s := newBank()
	err := s.AddIndexes(map[string]IndexFunc{"none": nil})
	if err == nil || s.HasIndex("none") {
		t.Errorf("%v, index without a function added: %t", err, s.HasIndex("none"))
	}
}
