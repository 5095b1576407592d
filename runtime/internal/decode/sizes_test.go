package decode_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/runtime/internal/decode"
)

// TestSizes checks that sizes are those of the text, however it arrives, and that a visitor may end the list
// before an item is read.
func TestSizes(t *testing.T) {
	objects := []string{`{"metadata":{"name":"a"}}`,
		`{"data":{"k":"` + strings.Repeat("x", 9<<10) + `"}}`, `{}`}
	d := decode.New(reflect.TypeFor[*corev1.ConfigMap](), decode.Options{})
	var sizes []int
	begun, most := 0, 3
	enough := errors.New("enough")
	visitor := decode.ListVisitor{
		Before: func() error {
			if begun == most {
				return enough
			}
			begun++
			return nil
		},
		Decoded: func(size int) { sizes = append(sizes, size) },
		Item: func(any) error {
			if len(sizes) != begun {
				t.Errorf("%d items have begun, %d have a size", begun, len(sizes))
			}
			return nil
		},
	}
	list := `{"items":[ ` + strings.Join(objects, " ,\n ") + ` ]}`
	if _, err := d.List(iotest.OneByteReader(strings.NewReader(list)), visitor); err != nil {
		t.Error(err)
	}
	want := []int{len(objects[0]), len(objects[1]), len(objects[2])}
	if !slices.Equal(sizes, want) {
		t.Errorf("items of %d bytes, expected %d", sizes, want)
	}
	sizes, begun, most = nil, 0, 1
	if _, err := d.List(strings.NewReader(list), visitor); err != enough || !slices.Equal(sizes, want[:1]) {
		t.Errorf("%v after items of %d bytes", err, sizes)
	}

	var stream strings.Builder
	sizes, want = nil, nil
	for _, object := range objects {
		event := `{"type":"ADDED","object":` + object + `}`
		want = append(want, len(event))
		stream.WriteString(" " + event + "\n")
	}
	events := d.Events(iotest.OneByteReader(strings.NewReader(stream.String())))
	for range objects {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, e.Size)
	}
	if !slices.Equal(sizes, want) {
		t.Errorf("events of %d bytes, expected %d", sizes, want)
	}
}
