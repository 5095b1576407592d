package apply

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Appending what is pointed to, in as many calls as one likes, gives the
// concatenation; no call with nothing makes a list.
func TestAppend(t *testing.T) {
	var list, want []int
	var pointers []*int
	Append(&list, "With", nil)
	AppendPointers(&pointers, "With", nil)
	if list != nil || pointers != nil {
		t.Errorf("nothing was appended to %v and %v", list, pointers)
	}
	for range 100 {
		var values []*int
		for range rand.IntN(4) {
			n := rand.Int()
			values, want = append(values, &n), append(want, n)
		}
		Append(&list, "With", values)
		AppendPointers(&pointers, "With", values)
	}
	if !slices.Equal(list, want) {
		t.Errorf("list %v, want %v", list, want)
	}
	for i, p := range pointers {
		*p++ // the copies have nothing to do with it
		if *p != want[i]+1 || list[i] != want[i] {
			t.Fatalf("element %d: pointer to %d, copy %d, want %d", i, *p, list[i], want[i])
		}
	}
	if len(pointers) != len(want) {
		t.Errorf("%d pointers, want %d", len(pointers), len(want))
	}
}

func TestAppendNil(t *testing.T) {
	one := 1
	for name, call := range map[string]func(list *[]int, pointers *[]*int){
		"Append":         func(list *[]int, _ *[]*int) { Append(list, "WithFoo", []*int{&one, nil}) },
		"AppendPointers": func(_ *[]int, pointers *[]*int) { AppendPointers(pointers, "WithFoo", []*int{&one, nil}) },
	} {
		t.Run(name, func(t *testing.T) {
			var list []int
			var pointers []*int
			defer func() {
				if got, want := recover(), "nil value passed to WithFoo"; got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
				if len(list)+len(pointers) != 1 {
					t.Errorf("%d elements, want the one before nil", len(list)+len(pointers))
				}
			}()
			call(&list, &pointers)
		})
	}
}

// Merging maps one after the other is copying them one after the other; a map
// that is given is never kept.
func TestMerge(t *testing.T) {
	var into map[int]int
	Merge(&into, map[int]int{})
	if into != nil {
		t.Error("no entries made a map")
	}
	want := map[int]int{}
	for range 50 {
		entries := map[int]int{}
		for range rand.IntN(4) {
			entries[rand.IntN(20)] = rand.Int()
		}
		maps.Copy(want, entries)
		Merge(&into, entries)
		entries[100] = 1
	}
	if !maps.Equal(into, want) {
		t.Errorf("map %v, want %v", into, want)
	}
}
