package decode

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// seedPods returns two pods with a little of everything.
func seedPods() *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "next"}}
	for _, name := range []string{"a", "b"} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", Labels: map[string]string{"app": name},
			CreationTimestamp: metav1.Unix(1e9, 0),
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m",
				FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}},
		}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Args: []string{"x", ""}}}
		pod.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}}
		list.Items = append(list.Items, pod)
	}
	return list
}

// FuzzListProtobuf checks that a list that client-go accepts results in the same items, and that a list that
// it refuses is refused. A list with two bodies, which no server writes, is refused here.
func FuzzListProtobuf(f *testing.F) {
	info := mediaType(f, runtime.ContentTypeProtobuf)
	data, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion),
		seedPods())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, byte(0))
	f.Add(data, byte(3))
	for _, field := range hostileFields() {
		f.Add(append(bytes.Clone(prefix), bytesField(unknownRaw, field)...), byte(0))
		f.Add(append(bytes.Clone(prefix), bytesField(unknownRaw, bytesField(listItems, field))...), byte(9))
		f.Add(append(bytes.Clone(data), field...), byte(1))
	}
	theirs := objectDecoder(info)
	f.Fuzz(func(t *testing.T, data []byte, most byte) {
		want := &corev1.PodList{}
		decoded, _, wantErr := theirs.Decode(data, nil, want)
		var from io.Reader = bytes.NewReader(data)
		if most > 0 {
			from = &steps{data: data, most: int(most)}
		}
		var got []corev1.Pod
		foreign := decoded != nil && decoded != want
		meta, err := New(reflect.TypeFor[*corev1.Pod](), Options{}).ListProtobuf(from, ListVisitor{
			Type: func(typ metav1.TypeMeta) error {
				foreign = foreign || typ.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("PodList")
				return nil
			},
			Item: func(item any) error {
				p := item.(*corev1.Pod)
				got = append(got, *p)
				return nil
			},
		})
		switch {
		case countBodies(data) > 1:
		case foreign:
			// This package leaves such lists to client-go.
		case (err == nil) != (wantErr == nil):
			t.Fatalf("we say %v, they %v", err, wantErr)
		case err == nil && (!reflect.DeepEqual(got, want.Items) || !reflect.DeepEqual(meta, want.ListMeta)):
			t.Fatalf("%s; %v and %v", difference(got, want.Items), meta, want.ListMeta)
		}
	})
}

// hostileFields are fields with impossible lengths, with depth, and with many empty messages.
func hostileFields() [][]byte {
	deep := []byte{}
	for range 500 {
		deep = bytesField(1, deep)
	}
	return [][]byte{
		deep, bytes.Repeat(bytesField(2), 500), bytesField(2, bytes.Repeat(bytesField(2), 500)), endless,
		bytes.Repeat([]byte{0xff}, 20), {0x0a, 0x80, 0x80, 0x80, 0x80, 0x08}, {0x0a, 0xff, 0xff, 0xff, 0xff, 0x07},
		bytes.Repeat([]byte{1<<3 | wireGroup}, 500), append(bytes.Repeat([]byte{1<<3 | wireGroup}, 500),
			bytes.Repeat([]byte{1<<3 | wireGroupEnd}, 500)...), {0x00}, {0x07}, {0x0a},
	}
}

// countBodies counts the bodies of a message, up to the first invalid byte.
func countBodies(data []byte) (count int) {
	data, _ = bytes.CutPrefix(data, prefix)
	for depth := 0; ; {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return count
		}
		data = data[n:]
		size := uint64(0)
		switch tag & 7 {
		case wireVarint:
			_, n := binary.Uvarint(data)
			size = uint64(max(n, 0))
		case wire64:
			size = 8
		case wire32:
			size = 4
		case wireGroup:
			depth++
		case wireGroupEnd:
			depth--
		case wireBytes:
			if depth == 0 && int32(tag>>3) == unknownRaw {
				count++
			}
			var n int
			size, n = binary.Uvarint(data)
			data = data[max(n, 0):]
		}
		if size > uint64(len(data)) {
			return count
		}
		data = data[size:]
	}
}

// FuzzEvents and FuzzEventsProtobuf check that both decoders return the same events until both end or fail.
func FuzzEvents(f *testing.F)         { fuzzEvents(f, runtime.ContentTypeJSON) }
func FuzzEventsProtobuf(f *testing.F) { fuzzEvents(f, runtime.ContentTypeProtobuf) }

func fuzzEvents(f *testing.F, contentType string) {
	info := mediaType(f, contentType)
	var seed bytes.Buffer
	encoder := eventEncoder(&seed, info,
		scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion))
	pods := seedPods()
	for i, typ := range []watch.EventType{watch.Added, watch.Modified} {
		if err := encoder.Encode(&watch.Event{Type: typ, Object: &pods.Items[i]}); err != nil {
			f.Fatal(err)
		}
	}
	status := &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired}
	if err := encoder.Encode(&watch.Event{Type: watch.Error, Object: status}); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes(), byte(0))
	f.Add(seed.Bytes(), byte(3))
	f.Add([]byte(`{"type":"ERROR","object":{"kind":"Status","code":410}}`), byte(3))
	f.Add([]byte(`{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1","status":""}}`), byte(3))
	for _, field := range hostileFields() {
		f.Add(framed(addedPod(field)), byte(0))
		f.Add(append(framed(addedPod(bytesField(2, field))), field...), byte(5))
	}
	for _, doc := range hostile() {
		f.Add([]byte(`{"type":"ADDED","object":`+doc+`}{"object":{"spec":`+doc+`},"type":"MODIFIED"}`), byte(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, most byte) {
		theirs := eventDecoder(data, info, objectDecoder(info))
		var from io.Reader = bytes.NewReader(data)
		if most > 0 {
			from = &steps{data: data, most: int(most)}
		}
		d := New(reflect.TypeFor[*corev1.Pod](), Options{})
		ours := d.Events(from)
		if contentType == runtime.ContentTypeProtobuf {
			ours = d.EventsProtobuf(from)
		}
		for n := 0; ; n++ {
			typ, want, wantErr := theirs.Decode()
			got, err := ours.Next()
			if wantErr != nil || err != nil {
				if contentType == runtime.ContentTypeJSON && wantErr == nil && countObjects(data, n) > 1 {
					return // here each object is decoded; client-go only decodes the last one
				}
				if wantErr != nil && err == nil && got.Status != nil {
					return // here a Status may lack its apiVersion: it contains the reason why the watch ends
				}
				if _, isStatus := want.(*metav1.Status); isStatus && typ != watch.Error {
					return // an object without a kind: here it is read as a pod
				}
				if (wantErr == nil) != (err == nil) && !isForeign(want, got.Object) {
					t.Fatalf("event %d: we say %v, they %v", n, err, wantErr)
				}
				return
			}
			if isForeign(want, got.Object) {
				return
			}
			object, _ := got.Object.(runtime.Object)
			if got.Status != nil {
				object = got.Status
			}
			object.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
			if got.Type != typ || !reflect.DeepEqual(object, want) {
				t.Fatalf("event %d: %v and %v: %s", n, got.Type, typ, difference(object, want))
			}
		}
	})
}

// countObjects counts the objects of the nth event in JSON.
func countObjects(data []byte, n int) (count int) {
	d := json.NewDecoder(bytes.NewReader(data))
	var event json.RawMessage
	for range n + 1 {
		if d.Decode(&event) != nil {
			return 0
		}
	}
	for d = json.NewDecoder(bytes.NewReader(event)); ; {
		token, err := d.Token()
		if err != nil {
			return count
		}
		if name, ok := token.(string); ok {
			if name == "object" {
				count++
			}
			var value json.RawMessage
			if d.Decode(&value) != nil {
				return count
			}
		}
	}
}

// isForeign reports whether one of the decoders found another object than a pod in an event. This package
// leaves such events to client-go.
func isForeign(want runtime.Object, got any) bool {
	if pod, ok := got.(*corev1.Pod); ok &&
		pod.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Pod") {
		return true
	}
	switch want.(type) {
	case nil, *corev1.Pod, *metav1.Status:
		return false
	}
	return true
}
