package apply

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestAppend checks that appending the values behind pointers, in any number of calls, results in their
// concatenation. Calls without values don't make a list.
func TestAppend(t *testing.T) {
	var list, want []int
	var pointers []*int
	AppendCopies(0, &list, "With", nil)
	Append(0, &list, nil)
	AppendPointers(0, &pointers, "With", nil)
	if list != nil || pointers != nil {
		t.Errorf("nothing was appended to %v and %v", list, pointers)
	}
	for range 100 {
		var values []*int
		for range rand.IntN(4) {
			n := rand.Int()
			values, want = append(values, &n), append(want, n)
		}
		if b := AppendCopies("b", &list, "With", values); b != "b" {
			t.Fatalf("%q came back for the configuration", b)
		}
		AppendPointers(0, &pointers, "With", values)
	}
	if !slices.Equal(list, want) {
		t.Errorf("list %v, want %v", list, want)
	}
	for i, p := range pointers {
		*p++ // doesn't affect the copies
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
		"AppendCopies": func(list *[]int, _ *[]*int) {
			AppendCopies(0, list, "WithFoo", []*int{&one, nil})
		},
		"AppendPointers": func(_ *[]int, pointers *[]*int) {
			AppendPointers(0, pointers, "WithFoo", []*int{&one, nil})
		},
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

// TestMerge checks that merging maps one after the other equals copying them one after the other, and that
// the maps that are passed are not kept.
func TestMerge(t *testing.T) {
	var into map[int]int
	Merge(0, &into, map[int]int{})
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
		Merge(0, &into, entries)
		entries[100] = 1
	}
	if !maps.Equal(into, want) {
		t.Errorf("map %v, want %v", into, want)
	}
}

// TestSet checks that a field has the value that was set.
func TestSet(t *testing.T) {
	type config struct {
		Value   string
		Pointer *int
		List    *[]int
	}
	var b config
	n := 1
	if got := Set(&b, &b.Value, "x"); got != &b || b.Value != "x" {
		t.Errorf("Set gave %v", b)
	}
	if got := Set(&b, &b.Pointer, &n); got != &b || b.Pointer != &n {
		t.Errorf("Set of a pointer gave %v", b)
	}
	Append(&b, Ensure(&b.List), []int{1})
	Append(&b, Ensure(&b.List), []int{2, 3})
	if !slices.Equal(*b.List, []int{1, 2, 3}) {
		t.Errorf("Ensure and Append gave %v", *b.List)
	}
}

type (
	OvenApplyConfiguration struct{ Name *string }
	MillApplyConfiguration struct{}
)

// TestForKind checks that configurations are found by version and kind, also if a version occurs twice, and
// that each call returns a new one.
func TestForKind(t *testing.T) {
	v1, v2 := schema.GroupVersion{Group: "g", Version: "v1"}, schema.GroupVersion{Group: "g", Version: "v2"}
	versions := []Kinds{
		{v1, []any{(*OvenApplyConfiguration)(nil)}},
		{v2, nil},
		{v1, []any{(*MillApplyConfiguration)(nil)}},
	}
	for _, c := range []struct {
		kind schema.GroupVersionKind
		want any
	}{
		{v1.WithKind("Oven"), &OvenApplyConfiguration{}},
		{v1.WithKind("oven"), &OvenApplyConfiguration{}},
		{v1.WithKind("Mill"), &MillApplyConfiguration{}},
		{v2.WithKind("Oven"), nil},
		{v1.WithKind("Bread"), nil},
		{v1.WithKind(""), nil},
	} {
		if got := ForKind(c.kind, versions...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: %#v, want %#v", c.kind, got, c.want)
		}
	}
	one := ForKind(v1.WithKind("Oven"), versions...).(*OvenApplyConfiguration)
	one.Name = new(string)
	if two := ForKind(v1.WithKind("Oven"), versions...).(*OvenApplyConfiguration); two.Name != nil {
		t.Error("the same configuration twice")
	}
}

func TestExtracted(t *testing.T) {
	c := &MillApplyConfiguration{}
	if got, err := Extracted(c, nil); got != c || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Extracted(c, errors.ErrUnsupported); got != nil || err != errors.ErrUnsupported {
		t.Errorf("%v, %v, want the error alone", got, err)
	}
}
