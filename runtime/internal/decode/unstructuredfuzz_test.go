package decode

import (
	"bytes"
	"io"
	"testing"
)

// FuzzUnstructured checks that text that apimachinery's decoder accepts as an unstructured object, or as a
// list of them, has the same result, however it is cut into reads and whatever came before, and that text
// that it refuses is refused. The one exception is a list that has its items, its kind or its version twice.
func FuzzUnstructured(f *testing.F) {
	objects, list, _ := customResources(2)
	f.Add(objects[0], byte(0))
	f.Add(list, byte(50))
	eachUnstructured(func(data []byte) { f.Add(data, byte(0)) })
	for _, doc := range hostile() {
		f.Add([]byte(`{"kind":"a","apiVersion":"v1","items":[`+doc+`,{"a":`+doc+`}]}`), byte(3))
	}
	eachUnstructuredList(func(data []byte) { f.Add(data, byte(1)) })
	f.Fuzz(func(t *testing.T, data []byte, most byte) {
		for _, opts := range []Options{{}, {ShareValues: true}} {
			d := newUnstructured(opts)
			for range 2 { // The second time with shared values of the first.
				compareUnstructured(t, d, data)
				var from io.Reader = bytes.NewReader(data)
				if most > 0 {
					from = &steps{data: data, most: int(most)}
				}
				compareUnstructuredList(t, d, data, from)
			}
		}
	})
}
