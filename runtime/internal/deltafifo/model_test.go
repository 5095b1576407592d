package deltafifo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

type delta = Delta[string, int]

// model is a queue as simple as can be.
type model struct {
	log                        []delta
	lent                       []delta
	indexed, populated, synced bool
}

func (m *model) append(d delta) {
	if !m.populated && d.Type.populates() {
		m.populated = true
		d.Initial = d.Type == ReplacedAll
	}
	m.push(d)
	m.settle()
}

func (m *model) push(d delta) {
	switch {
	case !m.indexed:
		m.log = append(m.log, d)
	case d.Type == ReplacedAll:
		for _, pending := range slices.Clone(m.log) {
			if newest := m.newest(pending.Key); pending.Type.keyed() && newest.Type != Deleted && !slices.ContainsFunc(d.List.(Items[string, int]), func(i Item[string, int]) bool { return i.Key == pending.Key }) {
				m.push(delta{Type: Deleted, Initial: d.Initial, FinalStateUnknown: true, Key: pending.Key, Object: newest.Object, Version: newest.Version})
			}
		}
		for _, item := range d.List.(Items[string, int]) {
			m.push(delta{Type: Replaced, Initial: d.Initial, Key: item.Key, Object: item.Object, Version: item.Version})
		}
	default:
		if newest := m.newest(d.Key); newest != nil && newest.Type == Deleted && d.Type == Deleted {
			if newest.FinalStateUnknown {
				d.Initial = newest.Initial
				*newest = d
			}
			return
		}
		m.log = append(m.log, d)
	}
}

func (m *model) newest(key string) *delta {
	for i := len(m.log) - 1; i >= 0; i-- {
		if m.log[i].Type.keyed() && m.log[i].Key == key {
			return &m.log[i]
		}
	}
	return nil
}

func (m *model) index() {
	if m.indexed {
		return
	}
	m.indexed = true
	log := m.log
	m.log = nil
	for _, d := range log {
		m.push(d)
	}
}

func (m *model) settle() {
	initial := func(d delta) bool { return d.Initial }
	m.synced = m.synced || m.populated && !slices.ContainsFunc(m.log, initial) && !slices.ContainsFunc(m.lent, initial)
}

func (m *model) popBatch() []delta {
	m.lent, m.log, m.indexed = m.log, nil, false
	return m.lent
}

func (m *model) pop() []delta {
	first := m.log[0]
	if !first.Type.keyed() {
		m.log = m.log[1:]
		return []delta{first}
	}
	var taken, rest []delta
	for _, d := range m.log {
		if d.Type.keyed() && d.Key == first.Key {
			taken = append(taken, d)
		} else {
			rest = append(rest, d)
		}
	}
	m.log = rest
	return taken
}

// TestModel drives a queue and its model with random operations: everything
// must come out once, in the model's order.
func TestModel(t *testing.T) {
	// How often Pop is chosen over PopBatch, and taking over adding.
	for _, shares := range []struct{ keyed, take float64 }{{0, .3}, {1, .3}, {1, .1}, {.9, .2}, {.5, .5}} {
		for seed := range uint64(10) {
			t.Run(fmt.Sprint(shares, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				f := New(func(i int) string { return fmt.Sprint("key-", i%50) })
				m := &model{}
				for i := range 1000 {
					if r.Float64() < shares.take {
						take(t, r.Float64() < shares.keyed, f, m)
					} else {
						add(i, r, f, m)
					}
					if got := f.Pending(); i%20 == 0 && len(got)+len(m.log) > 0 && !reflect.DeepEqual(got, m.log) || len(got) != len(m.log) || f.Len() != len(m.log) {
						t.Fatalf("step %d: pending (%d)\n%v, want\n%v", i, f.Len(), got, m.log)
					}
					if f.HasSynced() != m.synced {
						t.Fatalf("step %d: HasSynced %t, want %t", i, f.HasSynced(), m.synced)
					}
				}
			})
		}
	}
}

func take(t *testing.T, keyed bool, f *DeltaFIFO[string, int], m *model) {
	t.Helper()
	if m.lent = nil; len(m.log) == 0 {
		// Nothing to take; the call gives the last batch back all the same.
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := f.PopBatch(ctx); err != context.Canceled {
			t.Fatalf("PopBatch on a done context: %v", err)
		}
		m.settle()
		return
	}
	if m.settle(); !keyed {
		got, err := f.PopBatch(t.Context())
		if want := m.popBatch(); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("PopBatch = %v, %v, want %v", got, err, want)
		}
		return
	}
	if m.index(); len(m.log) == 0 {
		// An empty list: Pop would block.
		f.Has("")
		m.settle()
		return
	}
	want := m.pop()
	m.settle()
	key, got, err := f.Pop(t.Context())
	if err != nil || key != want[0].Key || !reflect.DeepEqual(got, want) {
		t.Fatalf("Pop = %q, %v, %v, want %v", key, got, err, want)
	}
}

func add(i int, r *rand.Rand, f *DeltaFIFO[string, int], m *model) {
	object, version := r.IntN(1000), fmt.Sprint(i)
	key := f.key(object)
	items := func() (items Items[string, int]) {
		for k, object := range r.Perm(50)[:r.IntN(50)] {
			items = append(items, Item[string, int]{Key: f.key(object), Object: object, Version: fmt.Sprint(i, k)})
		}
		return items
	}
	switch n := r.IntN(100); {
	case n < 20:
		f.Added(object, version)
		m.append(delta{Type: Added, Key: key, Object: object, Version: version})
	case n < 40:
		f.Updated(object, version)
		m.append(delta{Type: Updated, Key: key, Object: object, Version: version})
	case n < 70:
		f.Deleted(object, version)
		m.append(delta{Type: Deleted, Key: key, Object: object, Version: version})
	case n < 80:
		d := delta{Type: Deleted, FinalStateUnknown: true, Key: key, Object: object}
		f.Append(d)
		m.append(d)
	case n < 86:
		f.Bookmark(version)
		m.append(delta{Type: Bookmark, Version: version})
	case n < 90:
		f.SyncAll()
		m.append(delta{Type: SyncAll})
	case n < 92:
		list := items()
		f.Replace(list, version)
		m.append(delta{Type: ReplacedAll, List: list, Version: version})
	case n < 94:
		known := items()
		busy := slices.Clone(m.log)
		f.Resync(known)
		for _, item := range known {
			if !slices.ContainsFunc(busy, func(d delta) bool {
				return d.Type == ReplacedAll || d.Type.keyed() && d.Key == item.Key
			}) {
				m.push(delta{Type: Sync, Key: item.Key, Object: item.Object, Version: item.Version})
			}
		}
	case n < 96:
		var deltas []delta
		for _, item := range items() {
			deltas = append(deltas, delta{Type: Replaced, Key: item.Key, Object: item.Object})
		}
		f.AppendReplacement(deltas...)
		for _, d := range deltas {
			d.Initial = !m.populated
			m.push(d)
		}
		m.populated = true
		m.settle()
	}
}
