package decode

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// TestWantedRuns checks that a list and a watch are the same as without the hook except for the unwanted
// objects, whatever is wanted, also if nearly all objects are: then they are decoded before the hook is
// called.
func TestWantedRuns(t *testing.T) {
	const n = 200
	texts, list, events := customResources(n)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*unstructured.Unstructured](), reflect.TypeFor[*metav1.PartialObjectMetadata](),
		reflect.TypeFor[*corev1.ConfigMap](),
	} {
		for i, opts := range []Options{
			{}, {MetadataOnly: true}, {Drop: []string{"metadata.uid"}},
			{Drop: []string{"metadata.namespace"}}, {Drop: []string{"metadata"}},
		} {
			t.Run(fmt.Sprint(typ, opts), func(t *testing.T) {
				random := rand.New(rand.NewSource(int64(i)))
				unwanted := map[string]bool{} // by uid
				for at := 0; at < n; at += 1 + random.Intn(2*convincing) {
					for end := at + 1 + random.Intn(3); at < min(n, end); at++ {
						unwanted[uidOf(texts[at])] = true
					}
				}
				if len(unwanted) < 3 || len(unwanted) > n/2 {
					t.Fatalf("%d unwanted", len(unwanted))
				}
				want := func(namespace, uid string) bool {
					if !strings.HasPrefix(namespace, "team-") || uid == "" {
						t.Errorf("asked for %q, %q", namespace, uid)
					}
					return !unwanted[uid]
				}
				d := New(typ, opts)
				read := func(want func(namespace, uid string) bool) (items []any) {
					_, err := d.List(chunks{bytes.NewReader(list), random, 5000}, collect(&items, want))
					if err != nil {
						t.Fatal(err)
					}
					return items
				}
				all, at := read(nil), 0
				all = slices.DeleteFunc(all, func(any) bool { at++; return unwanted[uidOf(texts[at-1])] })
				if got := read(want); !reflect.DeepEqual(got, all) {
					t.Errorf("%d objects, want %d", len(got), len(all))
				}
				whole := d.Events(bytes.NewReader(events))
				wanted := d.Events(chunks{bytes.NewReader(events), random, 5000})
				wanted.Want(want)
				for i := range n {
					plain, _ := whole.Next()
					got, err := wanted.Next()
					if err != nil {
						t.Fatal(err)
					}
					if unwanted[uidOf(texts[i])] {
						version := fmt.Sprint(100_000 + i)
						plain = Event{Type: plain.Type, Skipped: true, Version: version, Size: plain.Size}
					}
					if !reflect.DeepEqual(got, plain) {
						t.Fatalf("event %d: %+v, want %+v", i, got, plain)
					}
				}
			})
		}
	}
}

// collect returns a visitor that collects the items.
func collect(items *[]any, want func(namespace, uid string) bool) ListVisitor {
	return ListVisitor{
		Item:   func(obj any) error { *items = append(*items, obj); return nil },
		Cached: Cached{Wanted: want},
	}
}

func uidOf(text []byte) string {
	_, rest, _ := bytes.Cut(text, []byte(`"uid":"`))
	uid, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(uid)
}

// TestWantedOddities checks that an unwanted object that takes too much memory isn't decoded, also after many
// wanted ones, and that metadata that comes twice is merged, as in decoding.
func TestWantedOddities(t *testing.T) {
	good := `{"metadata":{"namespace":"ours","uid":"u","name":"n"}}`
	var items []string
	for range 2 * convincing {
		items = append(items, good)
	}
	items = append(items,
		`{"metadata":{"namespace":"theirs","ownerReferences":[`+strings.Repeat("{},", 1000)+`{}]}}`,
		`{"metadata":{"uid":"u"},"metadata":{"namespace":"ours","name":"twice"}}`,
		`{"data":{"k":"v"}}`, good)
	d := New(reflect.TypeFor[*corev1.ConfigMap](), Options{MaxObject: 5000})
	list := `{"kind":"ConfigMapList","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
	var names []string
	_, err := d.List(strings.NewReader(list), ListVisitor{
		Item:   func(obj any) error { names = append(names, obj.(*corev1.ConfigMap).Name); return nil },
		Cached: Cached{Wanted: func(namespace, uid string) bool { return namespace == "ours" && uid == "u" }},
	})
	if err != nil || len(names) != 2*convincing+2 || names[2*convincing] != "twice" {
		t.Errorf("%v, %v", names, err)
	}
	_, err = d.List(strings.NewReader(strings.Replace(list, "theirs", "ours", 1)), ListVisitor{
		Item:   func(any) error { return nil },
		Cached: Cached{Wanted: func(string, string) bool { return true }},
	})
	if err == nil {
		t.Error("the object isn't too large")
	}
}

var uids = []types.UID{"u-even", "u-odd"}

// TestWantedKinds compares lists and watches of every kind that has messages, half of whose objects are
// wanted, with the wanted half of all objects.
func TestWantedKinds(t *testing.T) {
	fill := newObjects(6)
	eachKind(t, runtime.ContentTypeProtobuf, 145,
		func(t *testing.T, gvk schema.GroupVersionKind, typ reflect.Type) {
			w := newWire(gvk, typ, runtime.ContentTypeProtobuf)
			var all []runtime.Object
			var left []any
			for i := range perList {
				obj, _ := fill.one(t, typ)
				m, err := meta.Accessor(obj)
				if err != nil {
					return // It is no object of the API, like a Status.
				}
				m.SetNamespace(fmt.Sprint("ns-", i/2))
				m.SetUID(uids[i%2])
				m.SetResourceVersion(fmt.Sprint(i))
				all = append(all, obj.(runtime.Object))
			}
			list, err := kinds.New(listOf(gvk))
			if err != nil {
				t.Fatal(err)
			}
			if err := meta.SetList(list, all); err != nil {
				t.Fatal(err)
			}
			data, err := runtime.Encode(w.encoder, list)
			if err != nil {
				t.Fatal(err)
			}
			read := func(want func(namespace, uid string) bool) (items []any) {
				_, err := w.ours[0].ListProtobuf(fill.reads(data), collect(&items, want))
				if err != nil {
					t.Fatal(err)
				}
				return items
			}
			asked := 0
			odd := func(namespace, uid string) bool {
				if want := fmt.Sprint("ns-", asked/2); namespace != want || uid != string(uids[asked%2]) {
					t.Errorf("asked for %s, %s, want %s, %s", namespace, uid, want, uids[asked%2])
				}
				asked++
				return asked%2 == 0
			}
			for i, obj := range read(nil) {
				if i%2 == 1 {
					left = append(left, obj)
				}
			}
			if got := read(odd); !reflect.DeepEqual(got, left) {
				t.Errorf("list: %s", difference(got, left))
			}
			asked = 0
			w.watchOdd(t, fill, all, odd)
		})
}

// watchOdd checks a watch of objects, of which those at odd positions are wanted.
func (w *wire) watchOdd(t *testing.T, fill objects, all []runtime.Object, odd func(_, _ string) bool) {
	var body bytes.Buffer
	encoder := eventEncoder(&body, w.info, w.encoder)
	for i, obj := range all {
		if err := encoder.Encode(&watch.Event{Type: eventTypes[i%3], Object: obj}); err != nil {
			t.Fatal(err)
		}
	}
	if err := encoder.Encode(&watch.Event{Type: watch.Bookmark, Object: all[0]}); err != nil {
		t.Fatal(err)
	}
	events := func() *Events { return w.ours[0].EventsProtobuf(fill.reads(body.Bytes())) }
	plain, wanted := events(), events()
	wanted.Want(odd)
	for i := range len(all) + 1 {
		want, err := plain.Next()
		if err != nil {
			t.Fatal(err)
		}
		if i < len(all) && i%2 == 0 {
			want = Event{Type: want.Type, Skipped: true, Version: fmt.Sprint(i), Size: want.Size}
		}
		got, err := wanted.Next()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("event %d: %v, %s", i, err, difference(got, want))
		}
	}
	if _, err := wanted.Next(); err != io.EOF {
		t.Error(err)
	}
}
