package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// without removes the fields that a path to drop leads to.
func without(v any, path []string) {
	switch v := v.(type) {
	case []any:
		for _, elem := range v {
			without(elem, path)
		}
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
		} else {
			without(v[path[0]], path[1:])
		}
	}
}

// pathIn is a random path into an object. It may lead nowhere.
func (o objects) pathIn(v any) string {
	var names []string
	for {
		switch at := v.(type) {
		case []any:
			if v = nil; len(at) > 0 {
				v = at[o.rand.Intn(len(at))]
			}
			continue
		case map[string]any:
			if all := slices.Sorted(maps.Keys(at)); len(all) > 0 && (len(names) == 0 || o.rand.Intn(4) > 0) {
				name := all[o.rand.Intn(len(all))]
				names, v = append(names, name), at[name]
				continue
			}
		}
		return strings.Join(append(names, "nothing")[:max(1, len(names))], ".")
	}
}

// TestUnstructuredDrop checks that dropping fields of unstructured objects is the same as removing them after
// decoding.
func TestUnstructuredDrop(t *testing.T) {
	fill := newObjects(8)
	eachKind(t, runtime.ContentTypeJSON, 145, func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
		for i := range *perKind {
			obj, _ := fill.one(t, typ)
			obj.(runtime.Object).GetObjectKind().SetGroupVersionKind(gvk)
			data, err := json.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			want := &unstructured.Unstructured{}
			if err := want.UnmarshalJSON(data); err != nil {
				t.Fatal(err)
			}
			opts := Options{MetadataOnly: i%4 == 0, ShareValues: i%2 == 0}
			for range 1 + fill.rand.Intn(8) {
				if path := fill.pathIn(want.Object); path != "kind" && path != "apiVersion" {
					opts.Drop = append(opts.Drop, path)
				}
			}
			for _, path := range opts.Drop {
				without(want.Object, strings.Split(path, "."))
			}
			for name := range want.Object {
				if opts.MetadataOnly && name != "kind" && name != "apiVersion" && name != "metadata" {
					delete(want.Object, name)
				}
			}
			d := newUnstructured(opts)
			if i%3 == 0 {
				d.ShareFieldSets()
			}
			for range 2 {
				if got, err := oneUnstructured(d, data); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v of %s: %v, %#v", opts, clip(data), err, got)
				}
			}
		}
	})
}

// mutables are the addresses of all maps, and of all slices with elements, in objects.
func mutables(objects []*unstructured.Unstructured) (all []uintptr) {
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			all = append(all, reflect.ValueOf(v).Pointer())
			for _, elem := range v {
				walk(elem)
			}
		case []any:
			if len(v) > 0 {
				all = append(all, reflect.ValueOf(v).Pointer())
			}
			for _, elem := range v {
				walk(elem)
			}
		}
	}
	for _, o := range objects {
		walk(o.Object)
	}
	return all
}

// TestUnstructuredShares checks that objects share equal maps and slices with ShareValues, and none without
// it. They always share strings.
func TestUnstructuredShares(t *testing.T) {
	objects, list, _ := customResources(300)
	for _, share := range []bool{false, true} {
		got, _, _, err := listUnstructured(newUnstructured(Options{ShareValues: share}), bytes.NewReader(list))
		if err != nil || len(got) != len(objects) {
			t.Fatalf("%d items, %v", len(got), err)
		}
		for i, data := range objects {
			want := &unstructured.Unstructured{}
			if err := want.UnmarshalJSON(data); err != nil || !reflect.DeepEqual(got[i], want) {
				t.Fatalf("%v, item %d is %v", err, i, got[i])
			}
		}
		all := mutables(got)
		total := len(all)
		slices.Sort(all)
		different := len(slices.Compact(all))
		if !share && different < total || share && different > total/2 {
			t.Errorf("sharing %v: %d different maps and slices of %d", share, different, total)
		}
	}
}

// TestUnstructuredBoxes checks that repeated strings and integers take no memory in later objects.
func TestUnstructuredBoxes(t *testing.T) {
	d := newUnstructured(Options{})
	object := []byte(`{"kind":"K","a":"a string","b":123456,"c":true,"e":["x","y"],"f":{}}`)
	decode := func() {
		if _, err := oneUnstructured(d, object); err != nil {
			t.Fatal(err)
		}
	}
	decode()
	without := testing.AllocsPerRun(100, decode)
	object = bytes.Replace(object, []byte(`"f":{}`), []byte(`"f":{},"g":"and one more","h":654321`), 1)
	decode()
	if with := testing.AllocsPerRun(100, decode); with > without {
		t.Errorf("%v allocations, and %v with another string and another integer", without, with)
	}
}

// TestBoxes checks that the interfaces of strings stay correct while the table grows.
func TestBoxes(t *testing.T) {
	var strs stringTable
	for i := range 100_000 {
		content := fmt.Appendf(nil, "%d", i%30_000)
		if i%3 > 0 {
			if got := strs.box(content); got != any(string(content)) {
				t.Fatalf("%q for %q", got, content)
			}
		}
		if got := strs.get(content); got != string(content) {
			t.Fatalf("%q for %q", got, content)
		}
		if got := strs.box([]byte("the same again")); got != any("the same again") {
			t.Fatal(got)
		}
	}
}

// TestUnstructuredKnown checks that a relist hands over cached objects. Objects that can't be cached are
// decoded, whatever value they have as a name.
func TestUnstructuredKnown(t *testing.T) {
	odd := `{"apiVersion":"db.example.com/v1","kind":"Database","metadata":{"name":5}}`
	_, list, _ := customResources(20)
	list = bytes.Replace(list, []byte(`"items":[`), []byte(`"items":[`+odd+`,`), 1)
	d := newUnstructured(Options{})
	known := map[Identity]any{}
	texts := &Texts{}
	read := func(list []byte) (items []*unstructured.Unstructured) {
		texts.Begin()
		defer texts.End()
		_, err := d.List(bytes.NewReader(list), ListVisitor{
			Item: func(item any) error { items = append(items, item.(*unstructured.Unstructured)); return nil },
			Cached: Cached{
				LookUp: func(id Identity) (any, bool) { obj, ok := known[id]; return obj, ok },
				Texts:  texts,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return items
	}
	first := read(list)
	for _, item := range first {
		known[Identity{item.GetNamespace(), item.GetName(), item.GetResourceVersion()}] = item
	}
	delete(known, Identity{})
	changed := bytes.Replace(list, []byte(`"prefix":"team-3/`), []byte(`"prefix":"team-X/`), 1)
	for i, item := range read(changed) {
		same := i != 0 && i != 4
		if (item == first[i]) != same || i != 4 && !reflect.DeepEqual(item, first[i]) {
			t.Errorf("item %d is known: %v, expected %v", i, item == first[i], same)
		}
	}
}

// TestUnstructuredKnownEvents checks that the initial events of a watch hand over cached objects, too.
func TestUnstructuredKnownEvents(t *testing.T) {
	_, _, watch := customResources(2)
	cached := &unstructured.Unstructured{}
	events := newUnstructured(Options{}).Events(bytes.NewReader(watch))
	events.Begin(Cached{LookUp: func(id Identity) (any, bool) { return cached, id.Name == "database-1" }})
	for i := range 2 {
		e, err := events.Next()
		if err != nil || e.FromCache != (i == 1) ||
			e.FromCache && (e.Object != any(cached) || e.Version != "100001") {
			t.Errorf("event %d: %+v, %v", i, e, err)
		}
	}
}

// TestUnstructuredItemsWait checks that an item without a kind, and all items after it, wait for the kind of
// the list. Sizes are charged when items are read, and a cached item isn't changed.
func TestUnstructuredItemsWait(t *testing.T) {
	cached := &unstructured.Unstructured{Object: map[string]any{"cached": true}}
	list := `{"items":[{"kind":"A","n":1},{"n":2},{"kind":"B","n":3},{"metadata":{"name":"cached"}}],` +
		`"metadata":{},"kind":"KList","apiVersion":"v1"}`
	var said []string
	_, err := newUnstructured(Options{}).List(strings.NewReader(list), ListVisitor{
		Decoded: func(size int) { said = append(said, fmt.Sprint(size)) },
		Type: func(typ metav1.TypeMeta) error {
			said = append(said, typ.Kind+" of "+typ.APIVersion)
			return nil
		},
		Item: func(item any) error {
			u := item.(*unstructured.Unstructured)
			said = append(said, fmt.Sprintf("%s/%s %v", u.GetAPIVersion(), u.GetKind(), u.Object["n"]))
			if u == cached && len(u.Object) != 1 {
				t.Error("the cached item was changed")
			}
			return nil
		},
		Cached: Cached{LookUp: func(id Identity) (any, bool) { return cached, id.Name == "cached" }},
	})
	want := []string{"18", "/A 1", "7", "18", "KList of v1", "v1/K 2", "/B 3", "/ <nil>"}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("%v, %q", err, said)
	}
}

// TestUnstructuredListMeta checks that values of the wrong type in a list's metadata are left out, as by the
// accessors of an UnstructuredList.
func TestUnstructuredListMeta(t *testing.T) {
	list := `{"kind":"KList","metadata":{"resourceVersion":"5","continue":7,"shardInfo":{"selector":"x"}}}`
	_, _, meta, err := listUnstructured(newUnstructured(Options{}), strings.NewReader(list))
	want := metav1.ListMeta{ResourceVersion: "5", ShardInfo: &metav1.ShardInfo{Selector: "x"}}
	if err != nil || !reflect.DeepEqual(meta, want) {
		t.Errorf("%v, %v", meta, err)
	}
}

// TestUnstructuredStatus checks that errors of a watch of unstructured objects are Statuses, too.
func TestUnstructuredStatus(t *testing.T) {
	events := newUnstructured(Options{}).Events(strings.NewReader(
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410}}` +
			`{"type":"BOOKMARK","object":{"kind":"K","metadata":{"resourceVersion":"5"}}}`))
	if e, err := events.Next(); err != nil || e.Status == nil || e.Status.Code != 410 {
		t.Errorf("%v, %v", e, err)
	}
	if e, err := events.Next(); err != nil || e.Object.(*unstructured.Unstructured).GetResourceVersion() != "5" {
		t.Errorf("%v, %v", e, err)
	}
}

// TestUnstructuredStacks checks that the memory in which a decoder collects members doesn't refer to objects,
// and doesn't stay large.
func TestUnstructuredStacks(t *testing.T) {
	d := newUnstructured(Options{})
	for _, text := range []string{string(customResource(1)), `{"kind":"K","a":[1,2,3],"b":[{"c":1},`} {
		if _, err := oneUnstructured(d, []byte(text)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
		for _, m := range d.json.members[:cap(d.json.members)] {
			if m != (member{}) {
				t.Errorf("a member %v", m)
			}
		}
		for _, e := range d.json.elements[:cap(d.json.elements)] {
			if e != nil {
				t.Errorf("an element %v", e)
			}
		}
	}
	large, err := json.Marshal(map[string]any{"kind": "K", "a": make([]int, 3*largestStack)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oneUnstructured(d, large); err != nil || cap(d.json.elements) > 2*largestStack {
		t.Errorf("%v, %d elements are kept", err, cap(d.json.elements))
	}
}
