package decode

import (
	"bytes"
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

// benchmarkPods are pods like those of the deployments of the other benchmarks.
func benchmarkPods(b testing.TB, n int) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1000"}}
	for i := range n {
		var from struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     struct {
				Template struct {
					Spec corev1.PodSpec `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(deployment(i), &from); err != nil {
			b.Fatal(err)
		}
		list.Items = append(list.Items, corev1.Pod{ObjectMeta: from.Metadata, Spec: from.Spec.Template.Spec})
	}
	return list
}

// BenchmarkListProtobuf decodes a list of 500 pods, ours item by item.
func BenchmarkListProtobuf(b *testing.B) {
	info := mediaType(b, runtime.ContentTypeProtobuf)
	data, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), benchmarkPods(b, 500))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		d := New(reflect.TypeFor[*corev1.Pod](), Options{})
		for b.Loop() {
			if _, err := d.ListProtobuf(bytes.NewReader(data), ListVisitor{Item: func(any) error { return nil }}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		codec := objectDecoder(info)
		for b.Loop() {
			if _, _, err := codec.Decode(data, nil, &corev1.PodList{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkEventsProtobuf decodes a watch of 500 pods.
func BenchmarkEventsProtobuf(b *testing.B) {
	info := mediaType(b, runtime.ContentTypeProtobuf)
	var body bytes.Buffer
	encoder := eventEncoder(&body, info, scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion))
	for _, pod := range benchmarkPods(b, 500).Items {
		if err := encoder.Encode(&watch.Event{Type: watch.Modified, Object: &pod}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(body.Len()))
		d := New(reflect.TypeFor[*corev1.Pod](), Options{})
		for b.Loop() {
			events := d.EventsProtobuf(bytes.NewReader(body.Bytes()))
			var err error
			for err == nil {
				_, err = events.Next()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.SetBytes(int64(body.Len()))
		for b.Loop() {
			events := eventDecoder(body.Bytes(), info, objectDecoder(info))
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
