package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/lister"
)

// account is one of several accounts, whose sum no change may alter.
type account struct {
	id, amount int

	metav1.Object // nil: tests use only its labels
}

func (a account) GetLabels() map[string]string {
	return map[string]string{"parity": fmt.Sprint(a.amount % 2)}
}

const (
	accounts = 3*shortResult + 5
	total    = accounts * 100
)

func newBank() *Store[int] {
	s := newIndexed[int](map[string]IndexFunc{
		"parity": func(a any) []string { return []string{fmt.Sprint(a.(account).amount % 2)} },
		"bank":   func(any) []string { return []string{"the one"} },
	})
	fillBank(s, "0")
	return s
}

func fillBank(s *Store[int], version string) {
	r := s.Begin()
	for id := range accounts {
		r.Set(id, account{id: id, amount: 100}, "")
	}
	r.Commit(version)
}

// TestReadersSeeWholeChanges runs readers beside writers that move amounts between accounts, replace them
// all, and close and reopen accounts: every read must see all of a change, or nothing of it.
func TestReadersSeeWholeChanges(t *testing.T) {
	s := newBank()
	var stop atomic.Bool
	var reading, writing sync.WaitGroup
	check := func(what string, got []any) {
		sum, ids := 0, make(map[int]bool, accounts)
		for _, a := range cast[account](got) {
			sum += a.amount
			ids[a.id] = true
		}
		if sum != total || len(ids) != len(got) {
			t.Errorf("%s: a sum of %d over %d accounts, %d of them different; want %d", what, sum, len(got),
				len(ids), total)
			stop.Store(true)
		}
	}
	readers := []func(){
		func() { check("List", s.List()) },
		func() { check("Snapshot", slices.Collect(s.Snapshot().Values())) },
		func() {
			var all []any
			for id, a := range s.All() {
				if got := a.(account).id; id != got {
					t.Errorf("account %d under the key %d", got, id)
				}
				all = append(all, a)
			}
			check("All", all)
		},
		func() {
			all, err := s.ByIndex("bank", "the one")
			if err != nil {
				t.Error(err)
			}
			check("ByIndex", all)
		},
		func() {
			all, err := s.ByIndex("parity", "0", "1")
			if err != nil {
				t.Error(err)
			}
			check("ByIndex of two values", all)
		},
		func() {
			odd, _ := s.ByIndex("parity", "1")
			if slices.ContainsFunc(cast[account](odd), func(a account) bool { return a.amount%2 == 0 }) {
				t.Error("an even account is listed as odd")
			}
		},
		func() {
			for _, parity := range []int{0, 1} {
				func(snapshot Snapshot[int]) {
					var others, found []any
					for a := range snapshot.Values() {
						if a.(account).amount%2 != parity {
							others = append(others, a)
						}
					}
					for objects := range snapshot.Labeled(
						[]LabelValues{{"parity", []string{fmt.Sprint(parity)}}},
					) {
						found = append(found,
							slices.DeleteFunc(slices.Clone(objects),
								func(a any) bool { return a.(account).amount%2 != parity })...)
					}
					check("Labeled and the others", append(found, others...))
				}(s.Snapshot())
			}
		},
		func() {
			all, err := s.LabeledByIndex("bank", "the one", []LabelValues{{"parity", []string{"0", "1"}}})
			if err != nil {
				t.Error(err)
			}
			check("LabeledByIndex", all)
		},
		func() {
			if a, ok := s.Get(0); ok && a.(account).id != 0 {
				t.Errorf("%v under the key 0", a)
			}
		},
	}
	for _, read := range readers {
		reading.Go(func() {
			for !stop.Load() {
				read()
			}
		})
	}
	transfers := 300
	if testing.Short() {
		transfers = 100
	}
	var transfer sync.Mutex // serializes writers that read before they write
	for w := range uint64(2) {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(w, 0))
			for i := range transfers {
				transfer.Lock()
				switch {
				case i%100 == 99:
					fillBank(s, fmt.Sprint(i))
				default:
					s.Apply(transferOf(s, r))
				}
				transfer.Unlock()
			}
		})
	}
	writing.Wait()
	stop.Store(true)
	reading.Wait()
}

// transferOf closes an account and moves its amount to another, or moves half of one to a new one.
func transferOf(s *Store[int], r *rand.Rand) []Change[int] {
	for {
		gives, ok := s.Get(r.IntN(accounts))
		if !ok {
			continue
		}
		takes, ok := s.Get(r.IntN(accounts))
		from, _ := gives.(account)
		to, _ := takes.(account)
		switch {
		case !ok:
			opened := account{id: accounts + r.IntN(accounts), amount: from.amount / 2}
			if has(s, opened.id) {
				continue
			}
			from.amount -= opened.amount
			return []Change[int]{{Key: from.id, Object: from}, {Key: opened.id, Object: opened}}
		case from.id != to.id:
			to.amount += from.amount
			return []Change[int]{{Key: to.id, Object: to}, {Type: Deleted, Key: from.id}}
		}
	}
}

func TestIterationMayWrite(t *testing.T) {
	s := newBank()
	seen := 0
	for id := range s.All() {
		s.Delete(id)
		s.Set(accounts+id, account{id: accounts + id, amount: 1}, "")
		seen++
	}
	if seen != accounts || s.Len() != accounts || has(s, 0) {
		t.Fatalf("saw %d of %d accounts, %d now", seen, accounts, s.Len())
	}
	for range s.All() {
		seen++
		break
	}
	if seen != accounts+1 {
		t.Fatalf("%d more after leaving the loop, want 1", seen-accounts)
	}
}

func TestIterationAllocatesNothingPerObject(t *testing.T) {
	s := newBank()
	allocs := testing.AllocsPerRun(10, func() {
		n := 0
		for range s.All() {
			n++
		}
		if n != accounts {
			t.Fatal(n)
		}
	})
	if allocs > 4 {
		t.Errorf("%v allocations for %d objects", allocs, accounts)
	}
}

func TestUnknownIndex(t *testing.T) {
	s := newBank()
	var missing *lister.NoIndexError
	if _, err := s.ByIndex("none", "1"); !errors.As(err, &missing) || missing.Name != "none" {
		t.Errorf("ByIndex: %v", err)
	}
	if _, err := s.IndexKeys("none", "1"); !errors.As(err, &missing) {
		t.Errorf("IndexKeys: %v", err)
	}
	if err := (&lister.NoIndexError{Name: "none"}); err.Error() != "Index with name none does not exist" {
		t.Error(err)
	}
	if values := s.IndexValues("none"); values != nil || s.HasIndex("none") || !s.HasIndex("bank") {
		t.Errorf("values %v", values)
	}
}

func TestSeveralValues(t *testing.T) {
	s := newStore()
	for i, labels := range []string{"a", "b", "a,b", "c", ""} {
		put(s, &object{Name: name(i), Labels: labels})
	}
	for labels, want := range map[string][]string{
		"a": {name(0), name(2)}, "a,b": {name(0), name(1), name(2)}, "": nil, "none": nil,
		"a,a": {name(0), name(2)},
	} {
		found, err := s.ByIndex("label", byLabel(&object{Labels: labels})...)
		var got []string
		for _, o := range sorted(found) {
			got = append(got, o.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ByIndex of %q = %v, %v, want %v", labels, got, err, want)
		}
	}
}

// TestPanicInAnIndexFunction checks that a panic of an index function leaves the store unchanged and usable.
func TestPanicInAnIndexFunction(t *testing.T) {
	s := newBank()
	bomb := func(a any) []string {
		if a.(account).amount == 13 {
			panic("bad luck")
		}
		return nil
	}
	if err := s.AddIndexes(map[string]IndexFunc{"bomb": bomb}); err != nil {
		t.Fatal(err)
	}
	for what, write := range map[string]func(){
		"Set": func() { s.Set(1, account{id: 1, amount: 13}, "9") },
		"Apply": func() {
			s.Apply([]Change[int]{{Type: Deleted, Key: 1}, {Key: 2, Object: account{id: 2, amount: 13}}})
		},
		"Commit": func() {
			r := s.Begin()
			r.Set(1, account{id: 1, amount: 13}, "")
			r.Commit("9")
		},
		"AddIndexes": func() {
			_ = s.AddIndexes(map[string]IndexFunc{"worse": func(any) []string { panic("worse luck") }})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s swallowed the panic", what)
				}
			}()
			write()
		}()
		if a, _ := s.Get(1); a.(account).amount != 100 || s.Len() != accounts || s.ResourceVersion() != "0" ||
			s.HasIndex("worse") {
			t.Errorf("%s changed the store: %v, %d objects, version %s", what, a, s.Len(),
				s.ResourceVersion())
		}
	}
	if _, existed := s.Set(1, account{id: 1, amount: 50}, "1"); !existed || s.ResourceVersion() != "1" {
		t.Error("the store can't be written any more")
	}
}
