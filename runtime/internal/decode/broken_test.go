package decode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// bytesField returns a protobuf field that has a length.
func bytesField(number int, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append(
		binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number<<3|wireBytes)), uint64(len(all))),
		all...)
}

// endless is a tag and a length near 2^63.
var endless = []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}

// TestUnmarshalPanics checks that a panic of a type's Unmarshal becomes an error with the position.
func TestUnmarshalPanics(t *testing.T) {
	// The node's status.capacity["cpu"] is a quantity.
	node := bytesField(3, bytesField(1, bytesField(1, []byte("cpu")), bytesField(2, endless)))
	good := bytesField(1, bytesField(1, []byte("a")))
	list := append(bytes.Clone(prefix),
		bytesField(unknownRaw, bytesField(listItems, good), bytesField(listItems, node))...)
	d := New(reflect.TypeFor[*corev1.Node](), Options{})
	var names []string
	_, err := d.ListProtobuf(bytes.NewReader(list), ListVisitor{Item: func(item any) error {
		n := item.(*corev1.Node)
		names = append(names, n.Name)
		return nil
	}})
	expect := func(err error, item int) {
		t.Helper()
		var broken *Error
		if !errors.As(err, &broken) || broken.Item != item || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("%v", err)
		}
	}
	expect(err, 1)
	if len(names) != 1 {
		t.Errorf("items %q", names)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("client-go's decoder doesn't panic")
			}
		}()
		objectDecoder(mediaType(t, runtime.ContentTypeProtobuf)).Decode(list, nil, &corev1.NodeList{})
	}()
	body := append(bytes.Clone(prefix), bytesField(unknownRaw, node)...)
	event := append(bytesField(1, []byte("ADDED")), bytesField(2, bytesField(1, body))...)
	_, err = d.EventsProtobuf(bytes.NewReader(framed(event))).Next()
	expect(err, 0)
}

// TestLengths checks that a length that 32-bit machines can't represent is refused, and that the decoder
// doesn't wait for that many bytes.
func TestLengths(t *testing.T) {
	for _, length := range []uint64{1 << 31, 1<<31 + 1, 1 << 40, 1<<64 - 1} {
		text := append(bytes.Clone(prefix), unknownRaw<<3|wireBytes)
		text = binary.AppendUvarint(text, length)
		_, err := New(reflect.TypeFor[*corev1.Pod](), Options{}).ListProtobuf(bytes.NewReader(text),
			ListVisitor{})
		if !errors.Is(err, errBadLength) {
			t.Errorf("%d: %v", length, err)
		}
	}
	text := binary.AppendUvarint(append(bytes.Clone(prefix), unknownRaw<<3|wireBytes), 1<<31-1)
	if _, err := New(reflect.TypeFor[*corev1.Pod](), Options{}).ListProtobuf(
		bytes.NewReader(text), ListVisitor{},
	); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// TestSliceMessage checks a field that is both a message and a slice: without elements it is an empty slice,
// as by its type's method.
func TestSliceMessage(t *testing.T) {
	text := []byte{0x12, 0x02, 0x22, 0x00}
	want := &metav1.APIResourceList{}
	if err := want.Unmarshal(text); err != nil {
		t.Fatal(err)
	}
	got, err := New(reflect.TypeFor[*metav1.APIResourceList](), Options{}).fromProtobuf(text, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, %v", difference(got, want), err)
	}
}
