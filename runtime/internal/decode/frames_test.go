package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func framed(events ...[]byte) (frames []byte) {
	for _, event := range events {
		frames = append(binary.BigEndian.AppendUint32(frames, uint32(len(event))), event...)
	}
	return frames
}

// addedPod returns an event as servers write it.
func addedPod(pod []byte) []byte {
	unknown := bytes.Join([][]byte{
		bytesField(1, bytesField(1, []byte("v1")), bytesField(2, []byte("Pod"))), bytesField(2, pod),
		bytesField(3), bytesField(4),
	}, nil)
	return append(bytesField(1, []byte("ADDED")), bytesField(2, bytesField(1, prefix, unknown))...)
}

// TestOddEvents checks that events whose messages no encoder would write are decoded, or refused, as
// client-go's decoder does.
func TestOddEvents(t *testing.T) {
	typ := bytesField(1, bytesField(1, []byte("v1")), bytesField(2, []byte("Pod")))
	other := bytesField(1, bytesField(1, []byte("v1")), bytesField(2, []byte("Node")))
	pod := func(name string) []byte { return bytesField(2, bytesField(1, bytesField(1, []byte(name)))) }
	added, modified := bytesField(1, []byte("ADDED")), bytesField(1, []byte("MODIFIED"))
	object := func(unknown ...[]byte) []byte {
		return bytesField(2, bytesField(1, prefix, bytes.Join(unknown, nil)))
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	number := []byte{9 << 3, 1}
	overlong := append([]byte{0x0a, 0x85, 0x80, 0x00}, "ADDED"...)
	for name, event := range map[string][]byte{
		"regular":                     join(added, object(typ, pod("a"), bytesField(3), bytesField(4))),
		"the object first":            join(object(pod("a"), typ), added),
		"two types":                   join(added, modified, object(typ, pod("a"))),
		"two objects":                 join(added, object(typ, pod("a")), object(typ, pod("b"))),
		"no type":                     object(typ, pod("a")),
		"no object":                   added,
		"nothing":                     nil,
		"an empty object":             join(added, bytesField(2)),
		"another field":               join(added, number, object(typ, pod("a"))),
		"another field of the object": join(added, object(typ, pod("a"), number)),
		"another field of the extension": join(added,
			bytesField(2, bytesField(1, prefix, typ, pod("a")), number)),
		"another field of the kind": join(added,
			object(bytesField(1, bytesField(1, []byte("v1")), bytesField(2, []byte("Pod")), number),
				pod("a"))),
		"two kinds":     join(added, object(other, typ, pod("a"))),
		"two contents":  join(added, object(typ, pod("a"), pod("b"))),
		"no kind":       join(added, object(pod("a"))),
		"an empty kind": join(added, object(bytesField(1), pod("a"))),
		"no content":    join(added, object(typ)),
		"two extensions": join(added,
			bytesField(2, bytesField(1, prefix, typ, pod("a")), bytesField(1, prefix, typ, pod("b")))),
		"a length of several bytes":       join(overlong, object(typ, pod("a"))),
		"a number for a type":             join([]byte{1 << 3, 1}, object(typ, pod("a"))),
		"a number for the content":        join(added, object(typ, []byte{2 << 3, 1})),
		"an unknown type":                 join(bytesField(1, []byte("odd")), object(typ, pod("a"))),
		"no prefix":                       join(added, bytesField(2, bytesField(1, typ, pod("a")))),
		"a length that leaves the frame":  join(added, []byte{0x12, 0x70}),
		"a length that leaves the object": join(added, bytesField(2, []byte{0x0a, 0x70})),
		"a group":                         join(added, object(typ, pod("a")), irregular),
		"a group that isn't closed":       join(added, object(typ, pod("a")), irregular[:2]),
	} {
		t.Run(name, func(t *testing.T) {
			info := mediaType(t, runtime.ContentTypeProtobuf)
			data := framed(addedPod(bytesField(1, bytesField(1, []byte("before")))), event)
			theirs := eventDecoder(data, info, objectDecoder(info))
			ours := New(reflect.TypeFor[*corev1.Pod](), Options{}).EventsProtobuf(bytes.NewReader(data))
			if _, _, err := theirs.Decode(); err != nil {
				t.Fatal(err)
			}
			if _, err := ours.Next(); err != nil {
				t.Fatal(err)
			}
			wantType, want, wantErr := theirs.Decode()
			got, err := ours.Next()
			if (err == nil) != (wantErr == nil) && (err != nil || got.Object.(*corev1.Pod).Kind == "Pod") {
				t.Fatalf("we say %v, they %v", err, wantErr)
			}
			if wantErr != nil {
				return
			}
			got.Object.(runtime.Object).GetObjectKind().SetGroupVersionKind(
				want.GetObjectKind().GroupVersionKind())
			if got.Type != wantType || !reflect.DeepEqual(got.Object, any(want)) {
				t.Errorf("%v, expected %v: %s", got.Type, wantType, difference(got.Object, want))
			}
		})
	}
}

// TestWindowShrinks checks that the memory for a large event is released when small ones follow, however many
// bytes each read returns.
func TestWindowShrinks(t *testing.T) {
	for _, most := range []int{512, 3000, 5000, 12000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			pod := func(size int) []byte {
				return addedPod(bytesField(1, bytesField(1, []byte(strings.Repeat("x", size)))))
			}
			first, later := framed(pod(3<<20)), framed(pod(3001))
			const events = 200
			body := append(first, bytes.Repeat(later, events)...)
			d := New(reflect.TypeFor[*corev1.Pod](), Options{}).EventsProtobuf(&steps{data: body, most: most})
			for n := range 1 + events {
				if _, err := d.Next(); err != nil {
					t.Fatal(err)
				}
				if n == 0 && len(d.in.data) < 3<<20 {
					t.Fatalf("a window of %d bytes holds an event of 3 MB", len(d.in.data))
				}
			}
			if len(d.in.data) > largeWindow+padding {
				t.Errorf("a window of %d bytes in the end", len(d.in.data))
			}
		})
	}
}
