package clientsource_test

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	eventstream "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func withProtobuf(c *rest.Config) { c.ContentType = runtime.ContentTypeProtobuf }

// protobuf returns encoders of lists, and of watches, whose events follow each other.
func protobuf(t *testing.T) (list func(runtime.Object) []byte, events func(...watch.Event) []byte) {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(),
		runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	list = func(obj runtime.Object) []byte {
		data, err := runtime.Encode(encoder, obj)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	events = func(all ...watch.Event) []byte {
		var b bytes.Buffer
		stream := eventstream.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(&b),
			scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, corev1.SchemeGroupVersion))
		for _, e := range all {
			if err := stream.Encode(
				&metav1.WatchEvent{Type: string(e.Type), Object: runtime.RawExtension{Raw: list(e.Object)}},
			); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	return list, events
}

// TestRESTProtobuf checks that protobuf has the same result, streamed or not, wherever it is cut off.
func TestRESTProtobuf(t *testing.T) {
	encodeList, encodeEvents := protobuf(t)
	a := corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", ResourceVersion: "5",
			Labels: map[string]string{"x": "y"}}, Data: map[string]string{"k": "v"}}
	b := *a.DeepCopy()
	b.Name = "b"
	end := a.DeepCopy()
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	list := encodeList(&corev1.ConfigMapList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"}, Items: []corev1.ConfigMap{a, b}})
	stream := encodeEvents(
		watch.Event{Type: watch.Added, Object: &a}, watch.Event{Type: watch.Bookmark, Object: end},
		watch.Event{Type: watch.Modified, Object: &b}, watch.Event{Type: watch.Error,
			Object: &metav1.Status{Status: "Failure", Reason: metav1.StatusReasonExpired, Code: 410}})
	var body []byte
	c := configMapClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		w.Write(body)
	}, withProtobuf)
	both := bothSources(c)
	for n := 0; n <= len(list); n++ {
		body = list[:n]
		streamed, plain := readList(t, both["streamed"]), readList(t, both["plain"])
		if (streamed.err == nil) != (plain.err == nil) || streamed.meta != plain.meta ||
			plain.err == nil && !reflect.DeepEqual(streamed.items, plain.items) {
			t.Fatalf("list of %d bytes: streamed %v, plain %v", n, streamed, plain)
		}
	}
	for n := 0; n <= len(stream); n++ {
		body = stream[:n]
		streamed, plain := readWatch(t, both["streamed"]), readWatch(t, both["plain"])
		if (streamed.end == io.EOF) != (plain.end == io.EOF) ||
			!reflect.DeepEqual(streamed.events, plain.events) {
			t.Fatalf("watch of %d bytes: streamed %v, plain %v", n, streamed, plain)
		}
	}
}
