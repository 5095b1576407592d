package decode

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEndOfInitialEvents checks that the bookmark that ends initial events is recognised in both encodings,
// also if the annotation that says so is dropped, and that no other bookmark is.
func TestEndOfInitialEvents(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "5", Annotations: map[string]string{"a": "b"}}}
		if value != "" {
			pod.Annotations[metav1.InitialEventsAnnotationKey] = value
		}
		message, err := pod.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		frame := bytes.Replace(addedPod(message), bytesField(1, []byte("ADDED")),
			bytesField(1, []byte("BOOKMARK")), 1)
		json := fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"5","annotations":`+
			`{"a":"b",%q:%q}}}`, metav1.InitialEventsAnnotationKey, value)
		for _, drop := range [][]string{nil, {"metadata.annotations"}} {
			d := New(reflect.TypeFor[*corev1.Pod](), Options{Drop: drop})
			for name, events := range map[string]*Events{
				"protobuf":     d.EventsProtobuf(bytes.NewReader(framed(frame))),
				"JSON":         d.Events(strings.NewReader(`{"type":"BOOKMARK","object":` + json + `}`)),
				"object first": d.Events(strings.NewReader(`{"object":` + json + `,"type":"BOOKMARK"}`)),
			} {
				got, err := events.Next()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got.InitialEventsEnd != want || got.Object.(*corev1.Pod).ResourceVersion != "5" {
					t.Errorf("%s, %q, drops %q: ends %v, %v", name, value, drop, got.InitialEventsEnd, got.Object)
				}
			}
		}
	}
}
