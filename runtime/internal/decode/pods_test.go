package decode

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// manyPods returns pods like those of the deployments.
func manyPods(t testing.TB, n int) *corev1.PodList {
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
			t.Fatal(err)
		}
		list.Items = append(list.Items, corev1.Pod{ObjectMeta: from.Metadata, Spec: from.Spec.Template.Spec})
	}
	return list
}

// bodies has a list and a watch of the same pods in an encoding, and the pods.
type bodies struct {
	list, watch []byte
	pods        []corev1.Pod
	read        func(*Decoder, io.Reader, ListVisitor) error
	events      func(*Decoder, io.Reader) *Events
}

func podBodies(t testing.TB, contentType string, n int) bodies {
	t.Helper()
	list := manyPods(t, n)
	info := mediaType(t, contentType)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	data, err := runtime.Encode(encoder, list)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	events := eventEncoder(&body, info, encoder)
	for i := range list.Items {
		if err := events.Encode(&watch.Event{Type: watch.Modified, Object: &list.Items[i]}); err != nil {
			t.Fatal(err)
		}
	}
	b := bodies{list: data, watch: body.Bytes()}
	want := &corev1.PodList{}
	if _, _, err := objectDecoder(info).Decode(data, nil, want); err != nil {
		t.Fatal(err)
	}
	b.pods = want.Items
	b.events = (*Decoder).Events
	b.read = func(d *Decoder, from io.Reader, v ListVisitor) error { _, err := d.List(from, v); return err }
	if contentType == runtime.ContentTypeProtobuf {
		b.events = (*Decoder).EventsProtobuf
		b.read = func(d *Decoder, from io.Reader, v ListVisitor) error {
			_, err := d.ListProtobuf(from, v)
			return err
		}
	}
	return b
}
