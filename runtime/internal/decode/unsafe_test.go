package decode

import (
	"bytes"
	"io"
	"reflect"
	"runtime/debug"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestLayout checks that slices and pointers of all types have the same layout.
func TestLayout(t *testing.T) {
	type large [5]uint64
	for _, ok := range []bool{
		checkLayout(make([]byte, 2, 3)), checkLayout(make([]bool, 2, 3)), checkLayout(make([]int32, 2, 3)),
		checkLayout(make([]any, 2, 3)), checkLayout(make([]map[string]string, 2, 3)),
		checkLayout(make([]*int, 2, 3)),
		checkLayout(make([][]string, 2, 3)), checkLayout(make([]large, 2, 3)),
		checkLayout(make([]corev1.Pod, 2, 3)),
	} {
		if !ok {
			t.Error("another layout")
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a slice of three elements passes for one of two")
		}
	}()
	if s := make([]int, 1, 3); checkLayout(s) {
		t.Error("a slice of one element passes for one of two")
	}
}

// all decodes both bodies, and calls after with the input after each object.
func (b bodies) all(t *testing.T, d *Decoder, after func(*input)) (objects []any) {
	t.Helper()
	visitor := ListVisitor{Item: func(obj any) error { objects = append(objects, obj); return nil }}
	if err := b.read(d, bytes.NewReader(b.list), visitor); err != nil {
		t.Fatal(err)
	}
	for events := b.events(d, bytes.NewReader(b.watch)); ; {
		e, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		after(events.in)
		e.Object.(*corev1.Pod).TypeMeta = b.pods[0].TypeMeta
		objects = append(objects, e.Object)
	}
	return objects
}

// expect checks that the objects are the pods, twice.
func (b bodies) expect(t *testing.T, objects []any) {
	t.Helper()
	if len(objects) != 2*len(b.pods) {
		t.Fatalf("%d objects", len(objects))
	}
	for i, obj := range objects {
		if want := &b.pods[i%len(b.pods)]; !reflect.DeepEqual(obj, want) {
			t.Fatalf("object %d: %s", i, difference(obj, want))
		}
	}
}

func eachEncoding(t *testing.T, test func(*testing.T, bodies)) {
	for _, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(contentType, func(t *testing.T) { test(t, podBodies(t, contentType, 100)) })
	}
}

// TestNothingAliasesTheInput overwrites the input after each object.
func TestNothingAliasesTheInput(t *testing.T) {
	eachEncoding(t, func(t *testing.T, b bodies) {
		for _, opts := range []Options{{}, {ShareValues: true}} {
			d := New(reflect.TypeFor[*corev1.Pod](), opts)
			b.expect(t, b.all(t, d, func(in *input) {
				for i := range in.data[:in.pos] {
					in.data[i] = 'x'
				}
			}))
		}
	})
	// This is a single object, whose input is overwritten afterwards.
	data := deployment(1)
	text := bytes.Clone(data)
	want := whole(t, [][]byte{data})[0]
	got := &appsv1.Deployment{}
	d := New(reflect.TypeFor[*appsv1.Deployment](), Options{})
	in := inputOf(text)
	r := reader{Decoder: d, in: in}
	if err := r.try(func(d *jsonDecoder) bool { return decodeInto(d, got) }); err != nil {
		t.Fatal(err)
	}
	clear(in.data)
	clear(d.json.unquoted)
	if !reflect.DeepEqual(got, want) {
		t.Error(difference(got, want))
	}
}

// TestCollectorSeesAll checks, with a garbage collector that runs all the time, that it finds all memory that
// objects refer to and that a decoder keeps for later objects.
func TestCollectorSeesAll(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	eachEncoding(t, func(t *testing.T, b bodies) {
		for _, opts := range []Options{{}, {ShareValues: true}} {
			d := New(reflect.TypeFor[*corev1.Pod](), opts)
			b.all(t, d, func(*input) {})
			b.expect(t, b.all(t, d, func(*input) {}))
		}
	})
}
