package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// wantsThird reports every third object of customResources as wanted. It panics for other arguments.
func wantsThird(namespace, uid string) bool {
	var team, n int
	fmt.Sscanf(namespace, "team-%d", &team)
	fmt.Sscanf(uid, "0f4c1c1e-8b1f-4f0c-9d53-%d", &n)
	if team != n%20 {
		panic(namespace + "/" + uid)
	}
	return n%3 == 0
}

// TestWanted checks, for lists and watches, typed, of metadata and unstructured, and in pieces of any size,
// that exactly the wanted objects are decoded, as without the hook, and that the versions of others are
// reported.
func TestWanted(t *testing.T) {
	const n = 20
	_, list, events := customResources(n)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*unstructured.Unstructured](), reflect.TypeFor[*metav1.PartialObjectMetadata](),
		reflect.TypeFor[*corev1.ConfigMap](),
	} {
		for _, size := range []int{1 << 20, 1000, 7} {
			t.Run(fmt.Sprint(typ, " in ", size), func(t *testing.T) {
				d := New(typ, Options{})
				var all, wanted []any
				read := func(to *[]any, want func(namespace, uid string) bool) metav1.ListMeta {
					meta, err := d.List(pieces{bytes.NewReader(list), size}, ListVisitor{
						Item:   func(obj any) error { *to = append(*to, obj); return nil },
						Cached: Cached{Wanted: want},
					})
					if err != nil {
						t.Fatal(err)
					}
					return meta
				}
				if a, b := read(&all, nil), read(&wanted, wantsThird); !reflect.DeepEqual(a, b) {
					t.Errorf("metadata %+v, %+v", a, b)
				}
				var thirds []any
				for i := 0; i < n; i += 3 {
					thirds = append(thirds, all[i])
				}
				if !reflect.DeepEqual(wanted, thirds) {
					t.Errorf("the list has %s, want %s", asJSON(wanted), asJSON(thirds))
				}
				watchWanted(t, d, events, size, thirds)
			})
		}
	}
}

// pieces reads at most size bytes at a time.
type pieces struct {
	from io.Reader
	size int
}

func (p pieces) Read(b []byte) (int, error) { return p.from.Read(b[:min(len(b), p.size)]) }

func watchWanted(t *testing.T, d *Decoder, text []byte, size int, want []any) {
	bookmark := []byte(`{"type":"BOOKMARK","object":{"kind":"Database","apiVersion":"db.example.com/v1",` +
		`"metadata":{"resourceVersion":"9"}}}`)
	e := d.Events(pieces{bytes.NewReader(append(text, bookmark...)), size})
	e.Want(wantsThird)
	var got []any
	skipped := 0
	for i := 0; ; i++ {
		event, err := e.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case event.Type == watch.Bookmark:
			if event.Skipped || event.Object == nil {
				t.Error("the bookmark is skipped")
			}
		case event.Skipped:
			skipped++
			if event.Object != nil || event.Version != fmt.Sprint(100_000+i) || event.Type != watch.Added {
				t.Errorf("event %d: %+v", i, event)
			}
		default:
			got = append(got, event.Object)
		}
	}
	if skipped != 13 || asJSON(got) != asJSON(want) {
		t.Errorf("%d skipped; %s, want %s", skipped, asJSON(got), asJSON(want))
	}
}

// asJSON leaves out the kind, which typed items of lists don't have.
func asJSON(objects []any) string {
	for i, obj := range objects {
		if m, ok := obj.(*metav1.PartialObjectMetadata); ok {
			objects[i] = m.ObjectMeta
		}
		if c, ok := obj.(*corev1.ConfigMap); ok {
			objects[i] = c.ObjectMeta
		}
	}
	text, err := json.Marshal(objects)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestWantedAllocations checks that a list of unwanted objects allocates next to nothing for each of them,
// and a list of wanted objects not much more than without the hook.
func TestWantedAllocations(t *testing.T) {
	const n = 200
	_, list, _ := customResources(n)
	allocations := func(want func(namespace, uid string) bool) float64 {
		d := New(reflect.TypeFor[*unstructured.Unstructured](), Options{})
		return testing.AllocsPerRun(5, func() {
			_, err := d.List(bytes.NewReader(list), ListVisitor{
				Item: func(any) error { return nil }, Cached: Cached{Wanted: want},
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	none := allocations(func(_, _ string) bool { return false })
	all := allocations(func(_, _ string) bool { return true })
	// A UID and a version each, and the stream's own. Checking each wanted object first would take 2*n.
	if plain := allocations(nil); none > 3*n || all > plain+n {
		t.Errorf("%v allocations for unwanted objects, %v for wanted ones, %v without the hook",
			none, all, plain)
	}
}
