package decode

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	kubejson "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// unstructuredOptions are the options that are measured.
var unstructuredOptions = []struct {
	name string
	Options
}{{"ours", Options{}}, {"ours, ShareValues", Options{ShareValues: true}}}

// dynamicDecoder decodes as client-go's dynamic client does.
var dynamicDecoder = kubejson.NewSerializerWithOptions(kubejson.DefaultMetaFactory,
	unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(),
	kubejson.SerializerOptions{})

// BenchmarkUnstructuredList decodes a list of 1,000 custom resources.
func BenchmarkUnstructuredList(b *testing.B) {
	const n = 1000
	_, list, _ := customResources(n)
	for _, test := range unstructuredOptions {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(list)))
			b.ReportAllocs()
			d := newUnstructured(test.Options)
			kept := make([]any, 0, n)
			for b.Loop() {
				kept = kept[:0]
				if _, err := d.List(bytes.NewReader(list), ListVisitor{
					Item: func(item any) error { kept = append(kept, item); return nil },
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(len(list)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := dynamicDecoder.Decode(list, nil, &unstructured.UnstructuredList{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkUnstructuredEvents decodes a watch of 1,000 custom resources.
func BenchmarkUnstructuredEvents(b *testing.B) {
	_, _, watch := customResources(1000)
	for _, test := range unstructuredOptions {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(watch)))
			b.ReportAllocs()
			d := newUnstructured(test.Options)
			for b.Loop() {
				events := d.Events(bytes.NewReader(watch))
				var err error
				for err == nil {
					_, err = events.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
	info := mediaType(b, kuberuntime.ContentTypeJSON)
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(len(watch)))
		b.ReportAllocs()
		for b.Loop() {
			events := eventDecoder(watch, info, dynamicDecoder)
			var err error
			for err == nil {
				_, _, err = events.Decode()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkUnstructuredHeap reports the memory of 20,000 custom resources.
func BenchmarkUnstructuredHeap(b *testing.B) {
	const n = 20_000
	_, list, _ := customResources(n)
	measure := func(b *testing.B, decode func() (any, error)) {
		var before, after runtime.MemStats
		var live float64
		for b.Loop() {
			runtime.GC()
			runtime.ReadMemStats(&before)
			kept, err := decode()
			if err != nil {
				b.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			live = float64(after.HeapAlloc) - float64(before.HeapAlloc)
			runtime.KeepAlive(kept)
		}
		b.ReportMetric(live/n, "live-B/object")
		b.ReportMetric(0, "ns/op") // The time of the measurement is of no interest.
	}
	for _, test := range unstructuredOptions {
		b.Run(test.name, func(b *testing.B) {
			measure(b, func() (any, error) {
				d := newUnstructured(test.Options)
				kept := make([]any, 0, n)
				_, err := d.List(bytes.NewReader(list), ListVisitor{
					Item: func(item any) error { kept = append(kept, item); return nil },
				})
				return []any{d, kept}, err
			})
		})
	}
	b.Run("client-go", func(b *testing.B) {
		measure(b, func() (any, error) {
			kept := &unstructured.UnstructuredList{}
			_, _, err := dynamicDecoder.Decode(list, nil, kept)
			return kept, err
		})
	})
}
